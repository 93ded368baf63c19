-- step:    position_copy
-- mode:    append temp.position_copy
-- purpose: Number of tree vertices that each position of one height stands for: one per path
--          from the root. A floating-point number, since it can be astronomical.
-- reads:   position, ceg_edge, position_copy
-- writes:  position_copy(position_id, height, n_copies)
-- params:  ceg_id INTEGER, the CEG
--          height INTEGER, edges to the sink on the longest path; the root's comes first
-- source:  docs/theory.md, section 3 (Recovering the staged tree)
select
    p.position_id,
    p.height,
    coalesce(sum(c.n_copies), 1.0) as n_copies
from cegdb.position as p
left join cegdb.ceg_edge as e on e.ceg_id = $ceg_id and p.position_id = e.target_id
left join temp.position_copy as c on e.source_id = c.position_id
where p.ceg_id = $ceg_id and p.height = $height
group by p.position_id, p.height
