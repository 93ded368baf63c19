-- step:    drawn_vertex
-- mode:    create
-- purpose: The vertices that an overview of a tree draws.
-- reads:   drawn_situation, fringe_vertex
-- writes:  drawn_vertex(vertex_id)
-- params:  none
-- source:  serves the overview of large graphs (cegdb draw)
select cast(0 as bigint) as vertex_id
union
select d.vertex_id
from temp.drawn_situation as d
union
select f.vertex_id
from temp.fringe_vertex as f
where f.is_drawn
