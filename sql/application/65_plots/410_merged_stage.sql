-- step:    merged_stage
-- mode:    fetch
-- purpose: The learnt stages of the hyperstages of a variable, and the variable of each; null
--          if it has several.
-- reads:   plotted_vertex, stages
-- writes:  merged_stage(stage_id, stage, name, kind, colour, n_situations, hyperstage_id,
--          variable)
-- params:  staging VARCHAR, the name of the staging
--          variable VARCHAR, null for all
-- source:  serves the plots of merges and the dendrogram (cegdb plot)
with hyperstage as (
    select
        s.hyperstage_id,
        if(count(distinct v.variable) = 1, min(v.variable), null) as variable,
        bool_or(v.variable = $variable) as has_variable
    from temp.plotted_vertex as v
    inner join cegdb.stages as s on s.staging = $staging and v.stage_id = s.stage_id
    group by s.hyperstage_id
)

select
    s.stage_id,
    s.stage,
    s.name,
    s.kind,
    s.colour,
    s.n_situations,
    s.hyperstage_id,
    h.variable
from cegdb.stages as s
inner join hyperstage as h on s.hyperstage_id = h.hyperstage_id
where
    s.staging = $staging
    and s.kind = 'learnt'
    and ($variable is null or h.has_variable)
order by s.stage_id
