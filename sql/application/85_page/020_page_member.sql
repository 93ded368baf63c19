-- step:    page_member
-- mode:    create
-- purpose: A few situations of each position that a page shows, those that most people reach.
-- reads:   page_drawn, position_member, vertex
-- writes:  page_member(position_id, vertex_id)
-- params:  ceg_id INTEGER, the CEG
--          tree_id INTEGER, its tree
--          most INTEGER, the most situations of a position
--          by_people BOOLEAN, false if counts are hidden; then the first ones are shown
-- source:  serves the page of a CEG (cegdb report page)
select
    m.position_id,
    m.vertex_id
from temp.page_drawn as p
inner join cegdb.position_member as m
    on m.ceg_id = $ceg_id and p.position_id = m.position_id
inner join cegdb.vertex as v
    on v.tree_id = $tree_id and m.vertex_id = v.vertex_id and v.variable_id is not null
qualify
    row_number() over (
        partition by m.position_id
        order by if($by_people, v.n, 0) desc, m.vertex_id asc
    ) <= $most
