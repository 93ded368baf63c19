-- step:    position_column
-- mode:    create
-- purpose: The column of each position of a CEG: the variable of its situations, the last of
--          several, so that edges lead to later columns. The sink has none. The column n sorts
--          the sink and the root before all others; is_hidden says whether the count is hidden.
-- reads:   position, position_member, vertex, hidden_cell
-- writes:  position_column(position_id, column_index, n, is_hidden)
-- params:  ceg_id INTEGER, the CEG
--          tree_id INTEGER, its tree
--          variables INTEGER[], the variables of its situations, in order
-- source:  serves the overview of large graphs (cegdb draw)
with variable_column as (
    select
        m.position_id,
        max(list_position($variables, v.variable_id)) as column_index
    from cegdb.position_member as m
    inner join cegdb.vertex as v on m.vertex_id = v.vertex_id
    where
        m.ceg_id = $ceg_id
        and v.tree_id = $tree_id
        and v.variable_id is not null
    group by m.position_id
)

select
    p.position_id,
    a.column_index,
    if(p.stage_id is null or p.position_id = 0, 4611686018427387904, p.n) as n,
    h.owner_id is not null as is_hidden
from cegdb.position as p
left join variable_column as a on p.position_id = a.position_id
left join temp.hidden_cell as h on h.kind = 'position' and p.position_id = h.owner_id
where p.ceg_id = $ceg_id
