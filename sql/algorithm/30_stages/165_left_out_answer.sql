-- step:    left_out_answer
-- mode:    create
-- purpose: The stages with a single answer, others to the same question being left out of the
--          tree because nobody gave them, not because they were declared impossible.
-- reads:   stage_estimate, situation_stage, situation_edge, presumed_zero
-- writes:  left_out_answer(stage_id)
-- params:  tree_id INTEGER, the tree
--          is_unlisted BOOLEAN, whether its answers that nobody gave are all left out, without
--          a list of those presumed impossible
-- source:  docs/theory.md, section 14 (Structural and sampling zeros)
with answered as (
    select
        variable_id,
        count(distinct label_id) as n_labels
    from temp.situation_edge
    group by variable_id
)

select distinct e.stage_id
from temp.stage_estimate as e
inner join temp.situation_stage as s on e.stage_id = s.stage_id
inner join temp.situation_edge as a on s.vertex_id = a.vertex_id
inner join answered as v on a.variable_id = v.variable_id
left join cegdb.presumed_zero as z on z.tree_id = $tree_id and s.vertex_id = z.vertex_id
where
    e.n_labels = 1
    and e.size > 0
    and v.n_labels > 1
    and ($is_unlisted or z.vertex_id is not null)
