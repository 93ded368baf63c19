-- step:    situation_answer
-- mode:    create
-- purpose: The answers that lead to each situation, one row per variable asked on the path, and
--          whether an answer is that the question does not apply.
-- reads:   situation_edge, learnable
-- writes:  situation_answer(vertex_id, variable_id, label_id, is_absent)
-- params:  none
-- source:  docs/theory.md, section 9.2 (Parents and contexts);
--          docs/theory.md, section 16 (Limiting the number of parents)
with recursive above as (
    select
        e.child_id as vertex_id,
        e.vertex_id as ancestor_id,
        e.variable_id,
        e.label_id,
        e.label = 'not applicable' as is_absent
    from temp.situation_edge as e
    union all
    select
        a.vertex_id,
        e.vertex_id as ancestor_id,
        e.variable_id,
        e.label_id,
        e.label = 'not applicable' as is_absent
    from above as a
    inner join temp.situation_edge as e on a.ancestor_id = e.child_id
)

select
    vertex_id,
    variable_id,
    label_id,
    is_absent
from above
where vertex_id in (select s.vertex_id from temp.learnable as s)
