-- step:    report_pair
-- mode:    fetch
-- purpose: Each stage of a staging with each stage of another staging of its tree that shares
--          situations with it, and the count of these (null if the count of one is hidden).
-- reads:   vertices, or masked_vertices; stage_member
-- writes:  report_pair(pair_id, stage_id, other_id, variable, n_situations, n)
-- params:  vertices VARCHAR, the view of vertices, such as cegdb.vertices
--          tree VARCHAR, the name of the tree
--          staging_id INTEGER, the staging
--          other_staging_id INTEGER, the other
-- source:  serves the comparison of stagings in words
with shared as (
    select
        a.stage_id,
        b.stage_id as other_id,
        if(min(v.variable) = max(v.variable), min(v.variable), null) as variable,
        count(*) as n_situations,
        if(count(*) = count(v.n), sum(v.n), null) as n
    from cegdb.stage_member as a
    inner join cegdb.stage_member as b on a.vertex_id = b.vertex_id
    inner join query_table($vertices) as v on a.vertex_id = v.vertex_id
    where
        a.staging_id = $staging_id
        and b.staging_id = $other_staging_id
        and v.tree = $tree
    group by a.stage_id, b.stage_id
)

select
    row_number() over (order by s.stage_id, s.other_id) as pair_id,
    s.stage_id,
    s.other_id,
    s.variable,
    s.n_situations,
    cast(s.n as bigint) as n
from shared as s
order by pair_id
