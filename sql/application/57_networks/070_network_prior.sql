-- step:    network_prior
-- mode:    create
-- purpose: The prior of each edge of a tree by a network: alpha times the probability of the
--          path.
-- reads:   edge, level, network_rule, network_row
-- writes:  network_prior(vertex_id, child_id, label, answers, prior)
-- params:  tree_id INTEGER, the tree
--          variable_ids INTEGER[], the variables in the order of the tree
--          alpha DOUBLE, the prior mass of the root
-- source:  docs/theory.md, section 10 (Bayesian networks)
with recursive walk as (
    select
        cast(null as bigint) as vertex_id,
        cast(0 as bigint) as child_id,
        cast(null as varchar) as label,
        [cast(null as integer) for _ in cast($variable_ids as integer[])] as answers,
        cast($alpha as double) as prior
    union all
    select
        w.child_id as vertex_id,
        e.child_id,
        l.label,
        [
            if(i = r.variable_index, l.level_id, w.answers[i])
            for i in range(1, len(w.answers) + 1)
        ] as answers,
        w.prior * c.probability as prior
    from walk as w
    inner join cegdb.edge as e on e.tree_id = $tree_id and w.child_id = e.parent_id
    inner join cegdb.level as l on e.level_id = l.level_id
    inner join temp.network_rule as r on l.variable_id = r.variable_id
    inner join temp.network_row as c
        on
            l.level_id = c.level_id
            and [w.answers[i] for i in r.parent_indexes] = c.answers
)

select
    vertex_id,
    child_id,
    label,
    answers,
    prior
from walk
where vertex_id is not null
