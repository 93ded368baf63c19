-- step:    hidden_situation
-- mode:    create
-- purpose: The situations that an overview hides, with the node that stands for them: at first
--          those directly below drawn ones; hidden_level adds those below.
-- reads:   fringe_vertex
-- writes:  hidden_situation(step, vertex_id, node_id)
-- params:  none
-- source:  serves the overview of large graphs (cegdb draw)
select
    0 as step,
    f.vertex_id,
    f.node_id
from temp.fringe_vertex as f
where f.is_situation
