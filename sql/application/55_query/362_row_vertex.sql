-- step:    row_vertex
-- mode:    create
-- purpose: The vertices of the tree that each combination of answers reaches. Empty at first;
--          next_row_vertex adds rows, depth by depth.
-- reads:   nothing
-- writes:  row_vertex(depth, combination_id, vertex_id, child_id)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data);
--          serves answers for each row of a file (assign, complete, score)
select
    cast(0 as integer) as depth,
    cast(0 as bigint) as combination_id,
    cast(0 as bigint) as vertex_id,
    cast(0 as bigint) as child_id
where false
