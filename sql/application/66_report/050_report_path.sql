-- step:    report_path
-- mode:    fetch
-- purpose: The answers that lead to each vertex to report. The vertex itself has a row without
--          an answer.
-- reads:   edge, vertex, level; report_history, report_pair_history or report_example
-- writes:  report_path(vertex_id, stage_id, n, variable_id, label)
-- params:  tree_id INTEGER, the tree
--          histories VARCHAR, the table of vertices, such as temp.report_history
-- source:  serves the reports in words: which answers make up a stage
with recursive up as (
    select
        p.vertex_id,
        p.stage_id,
        p.n,
        p.vertex_id as ancestor_id,
        cast(null as integer) as variable_id,
        cast(null as varchar) as label
    from query_table($histories) as p
    union all
    select
        u.vertex_id,
        u.stage_id,
        u.n,
        e.parent_id as ancestor_id,
        v.variable_id,
        l.label
    from up as u
    inner join cegdb.edge as e on e.tree_id = $tree_id and u.ancestor_id = e.child_id
    inner join cegdb.vertex as v on v.tree_id = $tree_id and e.parent_id = v.vertex_id
    inner join cegdb.level as l on e.level_id = l.level_id
)

select
    u.vertex_id,
    u.stage_id,
    u.n,
    u.variable_id,
    u.label
from up as u
order by u.vertex_id asc, u.ancestor_id desc
