-- step:    large_situation
-- mode:    create
-- purpose: The situations of a tree that most people reach, without those as large as the first
--          one left out (its size is bound).
-- reads:   vertex
-- writes:  large_situation(vertex_id, n, bound)
-- params:  tree_id INTEGER, the tree
--          most BIGINT, number of situations at most
-- source:  serves the overview of large graphs (cegdb draw)
with next_one as (
    select v.n
    from cegdb.vertex as v
    where v.tree_id = $tree_id and v.variable_id is not null
    order by v.n desc
    limit 1 offset $most
)

select
    v.vertex_id,
    v.n,
    coalesce(x.n, -1) as bound
from cegdb.vertex as v
left join next_one as x on true
where v.tree_id = $tree_id and v.variable_id is not null and v.n > coalesce(x.n, -1)
