-- step:    conditioned_edge
-- mode:    append cegdb.ceg_edge
-- purpose: The edges of a CEG given evidence, with the rows of the survey that took them and
--          their probability given all the evidence. They have no prior: it is 0.
-- reads:   conditioned_vertex, node_position, conditioned_answer, level
-- writes:  ceg_edge(ceg_id, source_id, target_id, label_id, raw_labels, n, weight, prior,
--          probability)
-- params:  ceg_id INTEGER, the CEG
-- source:  docs/theory.md, section 8 (Probability propagation), posterior edge probabilities
with answer as (
    select
        s.position_id as source_id,
        t.position_id as target_id,
        s.stage_id,
        c.label_id,
        list_sort(list(distinct l.label)) as raw_labels,
        cast(sum(c.n) as bigint) as n,
        sum(c.weight) as weight
    from temp.conditioned_vertex as c
    inner join temp.node_position as s on c.source = s.node
    inner join temp.node_position as t on c.node = t.node
    inner join cegdb.level as l on c.level_id = l.level_id
    group by s.position_id, t.position_id, s.stage_id, c.label_id
)

select
    $ceg_id as ceg_id,
    a.source_id,
    a.target_id,
    a.label_id,
    a.raw_labels,
    a.n,
    a.weight,
    cast(0 as double) as prior,
    p.probability
from answer as a
inner join temp.conditioned_answer as p
    on a.stage_id = p.stage_id and a.label_id = p.label_id
order by a.source_id, a.label_id, a.target_id
