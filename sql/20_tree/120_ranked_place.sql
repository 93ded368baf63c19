-- step:    ranked_place
-- mode:    create
-- purpose: The places of the vertices of a tree in which florets vanish, in the order of their
--          ids: breadth first, by path in level order.
-- reads:   placed
-- writes:  ranked_place(place)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data), step 6;
--          docs/architecture.md, section Ids
select rowid as place
from temp.placed
where not is_gate
order by depth, first
