-- step:     hidden_situation
-- mode:     create
-- purpose:  The situations that an overview hides, with the node that stands for them: those
--           next to drawn ones first, what is below by hidden_level.
-- reads:    fringe_vertex
-- writes:   hidden_situation(step, vertex_id, node_id)
-- params:   none
-- source:   serves the overview of large graphs (cegdb draw)
select
    0 as step,
    f.vertex_id,
    f.node_id
from temp.fringe_vertex as f
where f.is_situation
