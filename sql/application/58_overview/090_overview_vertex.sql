-- step:    overview_vertex
-- mode:    create
-- purpose: The vertices of an overview that are drawn, or alone in a collapsed node, as in the
--          views vertices and staged_vertices. Only these are given names: leaves are counted
--          in blocks of 4,096 vertices, then within a block.
-- reads:   vertex, variable, stage_member, stages, drawn_situation, fringe_vertex
-- writes:  overview_vertex(vertex, vertex_id, variable, stage, stage_id, colour, depth,
--          height, n, weight, is_drawn)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, the staging, 0 for none
--          staging VARCHAR, its name
-- source:  serves the overview of large graphs (cegdb draw)
with node as (
    select
        cast(0 as bigint) as vertex_id,
        true as is_drawn
    union
    select
        d.vertex_id,
        true as is_drawn
    from temp.drawn_situation as d
    union
    select
        f.vertex_id,
        f.is_drawn
    from temp.fringe_vertex as f
    where f.n_members = 1
),

block as (
    select
        v.vertex_id // 4096 as block,
        count(*) as n_leaves
    from cegdb.vertex as v
    where v.tree_id = $tree_id and v.variable_id is null
    group by v.vertex_id // 4096
),

earlier as (
    select
        n.vertex_id,
        sum(b.n_leaves) as n_leaves
    from node as n
    inner join block as b on n.vertex_id // 4096 > b.block
    group by n.vertex_id
),

within as (
    select
        n.vertex_id,
        count(*) as n_leaves
    from node as n
    inner join cegdb.vertex as v on n.vertex_id // 4096 = v.vertex_id // 4096
    where v.tree_id = $tree_id and v.variable_id is null and v.vertex_id < n.vertex_id
    group by n.vertex_id
),

counted as (
    select
        n.vertex_id,
        n.is_drawn,
        cast(coalesce(e.n_leaves, 0) + coalesce(w.n_leaves, 0) as bigint) as n_leaves
    from node as n
    left join earlier as e on n.vertex_id = e.vertex_id
    left join within as w on n.vertex_id = w.vertex_id
)

select
    if(v.variable_id is null, 'l' || c.n_leaves, 's' || (v.vertex_id - c.n_leaves)) as vertex,
    v.vertex_id,
    q.name as variable,
    s.stage,
    s.stage_id,
    s.colour,
    v.depth,
    v.height,
    v.n,
    v.weight,
    c.is_drawn
from counted as c
inner join cegdb.vertex as v on c.vertex_id = v.vertex_id
left join cegdb.variable as q on v.variable_id = q.variable_id
left join cegdb.stage_member as m
    on m.staging_id = $staging_id and c.vertex_id = m.vertex_id
left join cegdb.stages as s on s.staging = $staging and m.stage_id = s.stage_id
where v.tree_id = $tree_id
