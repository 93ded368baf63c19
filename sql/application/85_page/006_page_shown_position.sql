-- step:    page_shown_position
-- mode:    fetch
-- purpose: The positions that a page draws and those their edges lead to, the sink last.
-- reads:   page_position, page_drawn, page_ceg_edge
-- writes:  page_shown_position(position_id, position, stage_id, variable, height, n,
--          n_situations)
-- params:  none
-- source:  serves the page of a CEG (cegdb report page)
with shown as (
    select d.position_id
    from temp.page_drawn as d
    union
    select e.target_id as position_id
    from temp.page_ceg_edge as e
    semi join temp.page_drawn as d on e.source_id = d.position_id
)

select
    p.position_id,
    p.position,
    p.stage_id,
    p.variable,
    p.height,
    p.n,
    p.n_situations
from temp.page_position as p
left join shown as s on p.position_id = s.position_id
where p.stage_id is null or s.position_id is not null
order by p.stage_id is null, p.position_id
