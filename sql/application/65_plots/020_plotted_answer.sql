-- step:    plotted_answer
-- mode:    fetch
-- purpose: The answers given in the stages to plot: count, probability and interval, null where
--          hidden.
-- reads:   plotted_edge
-- writes:  plotted_answer(stage_id, label_id, label, n, probability, low, high)
-- params:  none
-- source:  serves the plot of stage probabilities (cegdb plot)
select
    e.stage_id,
    e.label_id,
    e.label,
    if(count(e.n) = count(*), cast(sum(e.n) as bigint), null) as n,
    min(e.probability) as probability,
    min(e.low) as low,
    min(e.high) as high
from temp.plotted_edge as e
group by e.stage_id, e.label_id, e.label
order by e.stage_id, e.label_id
