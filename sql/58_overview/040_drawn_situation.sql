-- step:     drawn_situation
-- mode:     create
-- purpose:  The situations of a tree that an overview draws: the root, and what has enough
--           people and asks one of the first variables. What is above one is drawn, too.
-- reads:    vertex
-- writes:   drawn_situation(vertex_id)
-- params:   tree_id INTEGER, the tree
--           collapse_below BIGINT, people from which on a situation is drawn
--           variables INTEGER[], the first variables
-- source:   none
select v.vertex_id
from cegdb.vertex as v
where
    v.tree_id = $tree_id
    and v.variable_id is not null
    and (
        v.vertex_id = 0
        or (v.n >= $collapse_below and list_contains($variables, v.variable_id))
    )
