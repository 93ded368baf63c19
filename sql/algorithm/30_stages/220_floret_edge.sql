-- step:    floret_edge
-- mode:    create
-- purpose: The edges of the florets that learning uses, by hyperstage, and then of frozen
--          stages; in the order in which learning uses them.
-- reads:   learnable, situation_group, given_group, floret, situation_edge, edge_prior,
--          stage_member
-- writes:  floret_edge(row_index, group_index, vertex_id, label_id, child_id, prior, stage_id)
-- params:  staging_id INTEGER, the staging, whose stages are shown
-- source:  serves the bootstrap of stagings, which learns the stages again
with several as (
    select
        s.hyperstage_id,
        s.vertex_id,
        false as is_frozen
    from temp.learnable as s
    union all
    select
        g.hyperstage_id,
        g.vertex_id,
        true as is_frozen
    from temp.situation_group as g
    inner join temp.given_group as z on z.role = 'frozen' and g.vertex_id = z.vertex_id
    inner join temp.floret as f on g.vertex_id = f.vertex_id
    where f.n_edges > 1
),

grouped as (
    select
        s.is_frozen,
        if(s.is_frozen, m.stage_id, s.hyperstage_id) as group_id,
        s.vertex_id,
        e.label_id,
        e.child_id,
        a.prior,
        m.stage_id
    from several as s
    inner join temp.situation_edge as e on s.vertex_id = e.vertex_id
    inner join temp.edge_prior as a on e.child_id = a.child_id
    inner join cegdb.stage_member as m
        on m.staging_id = $staging_id and s.vertex_id = m.vertex_id
)

select
    row_number() over (order by is_frozen, group_id, vertex_id, label_id) as row_index,
    dense_rank() over (order by is_frozen, group_id) as group_index,
    vertex_id,
    label_id,
    child_id,
    prior,
    stage_id
from grouped
