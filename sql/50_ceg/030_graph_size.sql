-- step:    graph_size
-- mode:    fetch
-- purpose: Vertices and edges of a CEG.
-- reads:   position, ceg_edge
-- writes:  graph_size(n_vertices, n_edges)
-- params:  ceg_id INTEGER, the CEG
-- source:  SPEC 4
select
    (select count(*) from cegdb.position as p where p.ceg_id = $ceg_id) as n_vertices,
    (select count(*) from cegdb.ceg_edge as e where e.ceg_id = $ceg_id) as n_edges
