-- step:     hidden_subtree
-- mode:     fetch
-- purpose:  The nodes whose people are left out, since a vertex in them has a hidden count.
-- reads:    fringe_vertex, hidden_cell
-- writes:   hidden_subtree(node_id)
-- params:   none
-- source:   none
select distinct f.node_id
from temp.fringe_vertex as f
inner join temp.hidden_cell as h on h.kind = 'vertex' and f.vertex_id = h.owner_id
