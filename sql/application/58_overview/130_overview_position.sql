-- step:    overview_position
-- mode:    create
-- purpose: The node of an overview in which each position of a CEG is drawn: its own if it has
--          enough people and its column is among the first; else the node of the column (minus
--          its index), or of all later columns. A position alone in such a node is drawn as
--          itself. If any are collapsed, a position with a hidden count always is.
-- reads:   position_column
-- writes:  overview_position(position_id, node_id, column_index)
-- params:  collapse_below BIGINT, smallest number of people of a drawn position, 0 for all
--          top_variables INTEGER, number of columns drawn
-- source:  serves the overview of large graphs (cegdb draw)
with chosen as (
    select
        p.position_id,
        if(
            p.position_id = 0 or p.column_index is null
            or (
                p.n >= $collapse_below
                and p.column_index <= $top_variables
                and ($collapse_below = 0 or not p.is_hidden)
            ),
            p.position_id,
            -least(p.column_index, $top_variables + 1)
        ) as node_id,
        p.column_index
    from temp.position_column as p
)

select
    c.position_id,
    if(
        c.column_index <= $top_variables and count(*) over (partition by c.node_id) = 1,
        c.position_id,
        c.node_id
    ) as node_id,
    c.column_index
from chosen as c
