-- step:    plotted_vertex
-- mode:    create
-- purpose: The vertices of a staging; only those of one variable, or in learnt stages, if
--          requested.
-- reads:   staged_vertices, perhaps without small cells, stages
-- writes:  plotted_vertex(vertex_id, vertex, variable, stage_id, n)
-- params:  vertices VARCHAR, the view of vertices, such as cegdb.staged_vertices
--          staging VARCHAR, the name of the staging
--          variable VARCHAR, null for all
--          only_learnt BOOLEAN, whether other stages are left out
-- source:  serves the plots (cegdb plot)
with variable_stage as (
    select v.stage_id
    from query_table($vertices) as v
    where v.staging = $staging and v.variable = $variable
)

select
    v.vertex_id,
    v.vertex,
    v.variable,
    v.stage_id,
    v.n
from query_table($vertices) as v
where
    v.staging = $staging
    and (
        $variable is null
        or v.stage_id in (
            select s.stage_id
            from variable_stage as s
        )
    )
    and (
        not $only_learnt
        or v.stage_id not in (
            select s.stage_id
            from cegdb.stages as s
            where s.staging = $staging and s.kind <> 'learnt'
        )
    )
