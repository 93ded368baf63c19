-- step:    drawn_child
-- mode:    create
-- purpose: The vertices drawn as themselves to which the edges of an overview of a tree lead.
-- reads:   drawn_situation, fringe_vertex
-- writes:  drawn_child(child_id)
-- params:  none
-- source:  serves the overview of large graphs (cegdb draw)
select d.vertex_id as child_id
from temp.drawn_situation as d
union
select f.vertex_id as child_id
from temp.fringe_vertex as f
where f.n_members = 1
