-- step:    largest_presumed_zero
-- mode:    fetch
-- purpose: How many answers are presumed impossible, and those with most rows, for the summary.
-- reads:   presumed_zero, edge, level, variable
-- writes:  largest_presumed_zero(variable, label, path, asked, n, n_with, log_p0, n_presumed)
-- params:  tree_id INTEGER, the tree
--          most INTEGER, how many to return
-- source:  docs/theory.md, section 14 (Structural and sampling zeros)
with recursive chosen as (
    select
        vertex_id,
        level_id,
        n,
        n_with,
        log_p0,
        count(*) over () as n_presumed
    from cegdb.presumed_zero
    where tree_id = $tree_id
    order by n desc, vertex_id asc, level_id asc
    limit $most
),

up as (
    select
        vertex_id,
        vertex_id as above_id,
        cast([] as varchar[]) as labels,
        cast([] as varchar[]) as variables
    from (select distinct c.vertex_id from chosen as c) as d
    union all
    select
        u.vertex_id,
        e.parent_id as above_id,
        list_prepend(l.label, u.labels) as labels,
        list_prepend(a.name, u.variables) as variables
    from up as u
    inner join cegdb.edge as e on e.tree_id = $tree_id and u.above_id = e.child_id
    inner join cegdb.level as l on e.level_id = l.level_id
    inner join cegdb.variable as a on l.variable_id = a.variable_id
)

select
    v.name as variable,
    l.label,
    u.labels as path,
    u.variables as asked,
    c.n,
    c.n_with,
    c.log_p0,
    c.n_presumed
from chosen as c
inner join up as u on c.vertex_id = u.vertex_id and u.above_id = 0
inner join cegdb.level as l on c.level_id = l.level_id
inner join cegdb.variable as v on l.variable_id = v.variable_id
order by c.n desc, c.vertex_id asc, c.level_id asc
