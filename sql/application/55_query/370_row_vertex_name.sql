-- step:    row_vertex_name
-- mode:    create
-- purpose: The vertices that rows reach, with their stage and position, named as in the views.
-- reads:   row_vertex, vertex, variable, stage_member, stage, position_member, position
-- writes:  row_vertex_name(vertex_id, variable, situation, stage, position, stage_id, position_id)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
--          ceg_id INTEGER, the CEG; null for a staged tree, which has no positions
-- source:  docs/architecture.md, section Ids;
--          serves answers for each row of a file (assign, complete, score)
with situation as (
    select
        vertex_id,
        variable_id,
        row_number() over (order by vertex_id) - 1 as number
    from cegdb.vertex
    where tree_id = $tree_id and variable_id is not null
),

stage as (
    select
        stage_id,
        row_number() over (order by stage_id) - 1 as number
    from cegdb.stage
    where staging_id = $staging_id
),

position as (
    select
        position_id,
        stage_id,
        row_number() over (order by stage_id is null, position_id) - 1 as number
    from cegdb.position
    where ceg_id = $ceg_id
)

select
    r.vertex_id,
    q.name as variable,
    's' || s.number as situation,
    'u' || u.number as stage,
    case
        when m.position_id is null then null
        when p.stage_id is null then 'w_inf'
        else 'w' || p.number
    end as position,
    g.stage_id,
    m.position_id
from (select distinct vertex_id from temp.row_vertex where vertex_id >= 0) as r
left join situation as s on r.vertex_id = s.vertex_id
left join cegdb.variable as q on s.variable_id = q.variable_id
left join cegdb.stage_member as g
    on g.staging_id = $staging_id and r.vertex_id = g.vertex_id
left join stage as u on g.stage_id = u.stage_id
left join cegdb.position_member as m on m.ceg_id = $ceg_id and r.vertex_id = m.vertex_id
left join position as p on m.position_id = p.position_id
