-- step:    conditioned_vertex
-- mode:    create
-- purpose: The vertices that are consistent with the evidence, each with its node in the
--          product of the CEG and the automata of the evidence. At first only the root;
--          next_conditioned_vertex adds the others, depth by depth.
-- reads:   nothing
-- writes:  conditioned_vertex(vertex_id, depth, node, source, label_id, level_id, n, weight)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation), evidence (c)
select
    cast(0 as bigint) as vertex_id,
    cast(0 as integer) as depth,
    cast(0 as bigint) as node,
    cast(null as bigint) as source,
    cast(null as integer) as label_id,
    cast(null as integer) as level_id,
    cast(0 as bigint) as n,
    cast(null as decimal(38, 12)) as weight
