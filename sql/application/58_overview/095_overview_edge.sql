-- step:    overview_edge
-- mode:    create
-- purpose: The edges to the vertices of an overview, as in the views tree_edges and
--          staged_edges.
-- reads:   edge, level, vertex, staged_edges, overview_vertex
-- writes:  overview_edge(source, label, target, variable, n, weight, share, probability, low,
--          high, parent_id, child_id)
-- params:  tree_id INTEGER, the tree
--          staging VARCHAR, the name of the staging, '' for none
-- source:  serves the overview of large graphs (cegdb draw)
select
    p.vertex as source,
    l.label,
    c.vertex as target,
    p.variable,
    e.n,
    e.weight,
    case
        when $staging = '' then e.n / nullif(v.n - v.n_stopped, 0)
        else s.share
    end as share,
    s.probability,
    s.low,
    s.high,
    e.parent_id,
    e.child_id
from cegdb.edge as e
inner join temp.overview_vertex as c on e.child_id = c.vertex_id
inner join temp.overview_vertex as p on e.parent_id = p.vertex_id
inner join cegdb.vertex as v on e.tree_id = v.tree_id and e.parent_id = v.vertex_id
inner join cegdb.level as l on e.level_id = l.level_id
left join cegdb.staged_edges as s on s.staging = $staging and e.child_id = s.child_id
where e.tree_id = $tree_id
