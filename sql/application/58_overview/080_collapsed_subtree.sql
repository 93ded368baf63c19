-- step:    collapsed_subtree
-- mode:    create
-- purpose: The nodes of an overview that stand for several vertices of a tree: number of
--          situations they hide, and the people and labels that lead to them (no people if one
--          of the counts is hidden).
-- reads:   edge, fringe_vertex, hidden_situation, hidden_cell
-- writes:  collapsed_subtree(node_id, parent_id, n_labels, n_hidden, n, weight)
-- params:  tree_id INTEGER, the tree
-- source:  serves the overview of large graphs (cegdb draw)
with hidden as (
    select
        h.node_id,
        count(*) as n_hidden
    from temp.hidden_situation as h
    group by h.node_id
)

select
    f.node_id,
    f.parent_id,
    count(*) as n_labels,
    coalesce(any_value(h.n_hidden), 0) as n_hidden,
    if(count(c.owner_id) > 0, null, cast(sum(e.n) as bigint)) as n,
    if(count(c.owner_id) > 0, null, sum(e.weight)) as weight
from temp.fringe_vertex as f
inner join cegdb.edge as e on f.vertex_id = e.child_id
left join hidden as h on f.node_id = h.node_id
left join temp.hidden_cell as c on c.kind = 'vertex' and f.vertex_id = c.owner_id
where e.tree_id = $tree_id and not f.is_drawn
group by f.node_id, f.parent_id
