-- step:    reordered_vertex
-- mode:    create
-- purpose: The vertices of a tree with contracted florets, in the order of their ids.
-- reads:   rooted_node, vertex_order
-- writes:  reordered_vertex(vertex_id, parent_id, depth, level, below, level_id, n, weight,
--          weight_sq, n_stopped, height, is_situation)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data), step 6;
--          docs/architecture.md, section Ids
with ranking as (
    select
        r.node_row,
        r.rowid - f.first_row as vertex_id
    from temp.vertex_order as r
    cross join (select min(q.rowid) as first_row from temp.vertex_order as q) as f
)

select
    c.vertex_id,
    p.vertex_id as parent_id,
    v.depth,
    v.level,
    v.below,
    v.level_id,
    v.n,
    v.weight,
    v.weight_sq,
    v.n_stopped,
    v.height,
    v.is_situation
from temp.rooted_node as v
inner join ranking as c on v.rowid = c.node_row
left join ranking as p on v.parent_row = p.node_row
order by c.vertex_id
