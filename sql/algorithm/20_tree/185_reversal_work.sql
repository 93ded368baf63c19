-- step:    reversal_work
-- mode:    fetch
-- purpose: The last variable of a tree, if it has few levels, and its number of situations.
-- reads:   vertex, variable, level
-- writes:  reversal_work(outcome_id, n_situations)
-- params:  tree_id INTEGER, the tree
--          survey_id INTEGER, its survey
--          outcome VARCHAR, name of the last variable in the order
--          most_levels INTEGER, more levels are many
-- source:  docs/theory.md, section 25 (Associations that turn)
select
    q.variable_id as outcome_id,
    count(*) as n_situations
from cegdb.vertex as v
inner join cegdb.variable as q on v.variable_id = q.variable_id
where
    v.tree_id = $tree_id
    and q.survey_id = $survey_id
    and q.name = $outcome
    and (
        select count(*)
        from cegdb.level as l
        where l.variable_id = q.variable_id and l.kind = 'value'
    ) <= $most_levels
group by q.variable_id
