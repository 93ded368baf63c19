-- step:    drawn_situation
-- mode:    create
-- purpose: The situations of a tree that an overview draws: the root, and those that are below
--          a drawn one, have one of the first variables and have enough people. If any are
--          collapsed, a situation with a hidden count always is: drawing it would reveal that
--          it has enough.
-- reads:   vertex, edge, hidden_cell
-- writes:  drawn_situation(vertex_id)
-- params:  tree_id INTEGER, the tree
--          collapse_below BIGINT, smallest number of people of a drawn situation, 0 for all
--          variables INTEGER[], the first variables
-- source:  serves the overview of large graphs (cegdb draw)
with recursive large as (
    select v.vertex_id
    from cegdb.vertex as v
    where
        v.tree_id = $tree_id
        and v.n >= $collapse_below
        and list_contains($variables, v.variable_id)
        and (
            $collapse_below = 0
            or v.vertex_id not in (
                select h.owner_id
                from temp.hidden_cell as h
                where h.kind = 'vertex'
            )
        )
),

step as materialized (
    select
        e.parent_id,
        e.child_id
    from cegdb.edge as e
    inner join large as v on e.child_id = v.vertex_id
    where e.tree_id = $tree_id
),

drawn as (
    select v.vertex_id
    from cegdb.vertex as v
    where v.tree_id = $tree_id and v.vertex_id = 0 and v.variable_id is not null
    union all
    select s.child_id as vertex_id
    from drawn as d
    inner join step as s on d.vertex_id = s.parent_id
)

select d.vertex_id
from drawn as d
