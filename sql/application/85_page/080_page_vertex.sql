-- step:    page_vertex
-- mode:    fetch
-- purpose: The situations and leaves named on a page, with their position and its stage.
-- reads:   page_ancestor, page_position, staged_vertices, position_member
-- writes:  page_vertex(vertex_id, vertex, variable, n, parent_id, label, position_id,
--          stage_id)
-- params:  ceg_id INTEGER, the CEG
--          staging VARCHAR, its staging, or that of the CEG without evidence
-- source:  serves the page of a CEG (cegdb report page)
select
    a.vertex_id,
    v.vertex,
    v.variable,
    v.n,
    a.parent_id,
    a.label,
    m.position_id,
    p.stage_id
from temp.page_ancestor as a
inner join cegdb.staged_vertices as v
    on v.staging = $staging and a.vertex_id = v.vertex_id
left join cegdb.position_member as m on m.ceg_id = $ceg_id and a.vertex_id = m.vertex_id
left join temp.page_position as p on m.position_id = p.position_id
order by a.vertex_id
