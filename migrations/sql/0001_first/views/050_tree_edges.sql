create view cegdb.tree_edges as
select
    s.tree,
    s.vertex as source,
    l.label,
    t.vertex as target,
    s.variable,
    e.n,
    e.weight,
    e.n / nullif(s.n - s.n_stopped, 0) as share,
    e.parent_id,
    e.child_id,
    e.level_id
from cegdb.edge as e
inner join cegdb.event_tree as x on e.tree_id = x.tree_id
inner join cegdb.level as l on e.level_id = l.level_id
inner join cegdb.vertices as s on x.name = s.tree and e.parent_id = s.vertex_id
inner join cegdb.vertices as t on x.name = t.tree and e.child_id = t.vertex_id;

comment on view cegdb.tree_edges is 'One row per edge of an event tree.';
comment on column cegdb.tree_edges.tree is 'Name of the event tree.';
comment on column cegdb.tree_edges.source is 'Name of the situation where the edge starts.';
comment on column cegdb.tree_edges.label is 'The answer.';
comment on column cegdb.tree_edges.target is 'Name of the vertex where the edge ends.';
comment on column cegdb.tree_edges.variable is 'The variable of the source.';
comment on column cegdb.tree_edges.n is 'Number of respondents who took the edge.';
comment on column cegdb.tree_edges.weight is 'Sum of the weights of the respondents counted in n; null without weights.';
comment on column cegdb.tree_edges.share is 'n divided by the number of respondents who took any edge of the source, from 0 to 1; null if nobody did.';
comment on column cegdb.tree_edges.parent_id is 'vertex_id of the situation where the edge starts.';
comment on column cegdb.tree_edges.child_id is 'vertex_id of the vertex where the edge ends.';
comment on column cegdb.tree_edges.level_id is 'The level (an answer to one variable); joins to level.';
