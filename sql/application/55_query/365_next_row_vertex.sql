-- step:    next_row_vertex
-- mode:    append temp.row_vertex
-- purpose: The vertex of the tree at one depth that each combination reaches, and the vertex to
--          which its next answer leads (-1: none, or not known). A row of the survey that
--          stopped at a missing answer may have ended in a leaf, whatever it answers later.
-- reads:   row_vertex, vertex, edge, shown_edge, variable_rank, row_cell
-- writes:  row_vertex(depth, combination_id, vertex_id, child_id)
-- params:  tree_id INTEGER, the tree
--          depth INTEGER, of the vertices
--          first BIGINT, the first combination of the block
--          is_prefix BOOLEAN, whether rows stop at a missing answer
-- source:  docs/theory.md, section 1 (Event trees from data);
--          serves answers for each row of a file (assign, complete, score)
with here as (
    select
        combination_id,
        child_id as vertex_id
    from temp.row_vertex
    where depth = $depth - 1 and child_id >= 0 and combination_id >= $first
),

labelled as (
    select
        parent_id,
        child_id,
        level_id
    from cegdb.edge
    where tree_id = $tree_id
    union all
    select
        parent_id,
        child_id,
        level_id
    from temp.shown_edge
),

following as (
    select
        e.parent_id,
        e.child_id,
        e.level_id,
        coalesce(r.rank, 2147483647) as child_rank
    from cegdb.vertex as k
    inner join labelled as e on k.vertex_id = e.child_id
    left join temp.variable_rank as r on k.variable_id = r.variable_id
    where k.tree_id = $tree_id and k.depth = $depth + 1
),

matched as (
    select
        h.combination_id,
        h.vertex_id,
        c.level_id,
        c.next_rank,
        $is_prefix and c.next_open < c.next_rank as is_stopped
    from here as h
    inner join cegdb.vertex as v
        on v.tree_id = $tree_id and v.depth = $depth and h.vertex_id = v.vertex_id
    left join temp.variable_rank as r on v.variable_id = r.variable_id
    left join temp.row_cell as c on h.combination_id = c.combination_id and r.rank = c.rank
)

select
    $depth as depth,
    a.combination_id,
    a.vertex_id,
    coalesce(f.child_id, -1) as child_id
from matched as a
left join following as f
    on
        a.vertex_id = f.parent_id
        and a.level_id = f.level_id
        and (a.next_rank >= f.child_rank or (a.is_stopped and f.child_rank = 2147483647))
