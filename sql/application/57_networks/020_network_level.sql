-- step:    network_level
-- mode:    fetch
-- purpose: The labels that each variable of a network can take, in level order: those on edges
--          of the tree, and declared values that no edge has, without 'not applicable'.
-- reads:   network_edge, level, labels
-- writes:  network_level(variable_index, label_id, label)
-- params:  survey_id INTEGER, whose labels are shown
--          variable_ids INTEGER[], the variables in the order of the tree
-- source:  docs/theory.md, section 10 (Bayesian networks)
with labelled as (
    select
        e.variable_index,
        e.label_id,
        e.level_id
    from temp.network_edge as e
    where e.label_id >= 0
    union all
    select
        list_position(cast($variable_ids as integer[]), l.variable_id) as variable_index,
        l.label_id,
        l.level_id
    from cegdb.level as l
    where
        l.variable_id in (select unnest(cast($variable_ids as integer[])))
        and l.kind = 'value'
        and l.level_id not in (select e.level_id from temp.network_edge as e)
)

select
    a.variable_index,
    a.label_id,
    min(c.label) as label
from labelled as a
inner join cegdb.labels as c on c.survey_id = $survey_id and a.label_id = c.label_id
group by a.variable_index, a.label_id
order by a.variable_index, min(a.level_id), a.label_id
