-- step:    stage_overlap
-- mode:    fetch
-- purpose: The people and situations of a variable that a stage of one staging and a stage of
--          another have in common. Situations with a hidden count are left out and counted.
-- reads:   plotted_vertex, stage_member
-- writes:  stage_overlap(variable, stage_id, other_id, n, n_hidden, n_situations)
-- params:  other_staging_id INTEGER, the other staging
-- source:  serves the plot of the difference between two stagings (cegdb plot)
select
    v.variable,
    v.stage_id,
    m.stage_id as other_id,
    cast(coalesce(sum(v.n), 0) as bigint) as n,
    count(*) - count(v.n) as n_hidden,
    count(*) as n_situations
from temp.plotted_vertex as v
inner join cegdb.stage_member as m
    on m.staging_id = $other_staging_id and v.vertex_id = m.vertex_id
group by v.variable, v.stage_id, m.stage_id
order by v.variable, v.stage_id, m.stage_id
