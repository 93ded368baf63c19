-- step:    ranked_vertex
-- mode:    create
-- purpose: The vertices of such a tree.
-- reads:   placed, ranked_place
-- writes:  ranked_vertex(vertex_id, parent_id, depth, level, level_id, n, weight, weight_sq,
--          n_stopped, height, is_situation)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data), step 6;
--          docs/architecture.md, section Ids
with ranking as (
    select
        r.place,
        r.rowid - f.first_row as vertex_id
    from temp.ranked_place as r
    cross join (select min(q.rowid) as first_row from temp.ranked_place as q) as f
)

select
    c.vertex_id,
    p.vertex_id as parent_id,
    v.depth,
    v.level,
    v.level_id,
    v.n,
    v.weight,
    v.weight_sq,
    v.n_stopped,
    v.height,
    v.is_situation
from temp.placed as v
inner join ranking as c on v.rowid = c.place
left join ranking as p on v.parent_place = p.place
order by c.vertex_id
