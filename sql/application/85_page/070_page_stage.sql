-- step:    page_stage
-- mode:    fetch
-- purpose: The stages of a CEG, from its positions. The count n is null if it is hidden at one
--          of them.
-- reads:   page_position
-- writes:  page_stage(stage_id, stage, variable, colour, n, n_situations, n_positions)
-- params:  none
-- source:  serves the page of a CEG (cegdb report page)
select
    p.stage_id,
    p.stage,
    p.variable,
    p.colour,
    cast(if(count(p.n) = count(*), sum(p.n), null) as bigint) as n,
    cast(sum(p.n_situations) as bigint) as n_situations,
    count(*) as n_positions
from temp.page_position as p
where p.stage_id is not null
group by p.stage_id, p.stage, p.variable, p.colour
order by p.stage_id
