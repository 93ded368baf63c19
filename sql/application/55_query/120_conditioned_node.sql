-- step:    conditioned_node
-- mode:    create
-- purpose: The nodes of the product with their vertices in the tree; variable_id is -2 where
--          these have different variables, and -1 at the sink.
-- reads:   conditioned_vertex, vertex
-- writes:  conditioned_node(node, first_id, n_situations, n, variable_id)
-- params:  tree_id INTEGER, the tree
-- source:  docs/theory.md, section 8 (Probability propagation), evidence (c)
select
    c.node,
    min(c.vertex_id) as first_id,
    count(*) as n_situations,
    cast(sum(v.n) as bigint) as n,
    case
        when count(v.variable_id) = 0 then -1
        when min(v.variable_id) = max(v.variable_id) then min(v.variable_id)
        else -2
    end as variable_id
from temp.conditioned_vertex as c
inner join cegdb.vertex as v on v.tree_id = $tree_id and c.vertex_id = v.vertex_id
group by c.node
