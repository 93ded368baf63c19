-- step:    presumed_zero
-- mode:    append cegdb.presumed_zero
-- purpose: The answers presumed impossible, with the situations where nobody gave them.
-- reads:   presumed_answer, numbered_vertex or reordered_vertex
-- writes:  presumed_zero(tree_id, vertex_id, level_id, n, n_with, n_without, log_p0)
-- params:  tree_id INTEGER, the tree
--          first_level_ids INTEGER[], the first level of each variable from the root
--          vertices VARCHAR, temp.numbered_vertex, or temp.reordered_vertex if florets are
--          contracted
-- source:  docs/theory.md, section 14 (Structural and sampling zeros)
select
    $tree_id as tree_id,
    v.vertex_id,
    cast($first_level_ids as integer[])[z.level + 1] + z.digit - 1 as level_id,
    z.n,
    z.n_with,
    z.n_without,
    z.log_p0
from temp.presumed_answer as z
inner join query_table($vertices) as v on z.level = v.level and z.prefix = v.below
order by v.vertex_id, level_id
