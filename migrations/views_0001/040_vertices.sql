-- One row a vertex of an event tree. Situations are called s0, s1, ... and leaves l0, l1,
-- ... in the order of their ids; variable is the question of the vertex's floret.
create view cegdb.vertices as
select
    t.name as tree,
    if(v.variable_id is null, 'l', 's') || (
        row_number() over (
            partition by t.tree_id, t.name, v.variable_id is null
            order by v.vertex_id
        ) - 1
    ) as vertex,
    v.vertex_id,
    v.depth,
    v.height,
    q.name as variable,
    v.n,
    v.weight,
    v.n_stopped
from cegdb.vertex as v
inner join cegdb.event_tree as t on v.tree_id = t.tree_id
left join cegdb.variable as q on v.variable_id = q.variable_id;
