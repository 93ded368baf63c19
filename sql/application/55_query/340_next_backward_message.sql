-- step:    next_backward_message
-- mode:    append temp.backward_message
-- purpose: The messages from the positions of one height, for each combination: the log of the
--          probability of the answers to come, and that of the most probable path to the sink
--          with its first edge; of paths within 1e-12, the first in level order.
-- reads:   row_path_edge, backward_message
-- writes:  backward_message(height, combination_id, node, edge, best, total)
-- params:  height INTEGER, of the positions, the lowest first
--          lowest INTEGER, the smallest height above 0 to which an edge leads from here
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
with item as (
    select
        w.combination_id,
        w.source,
        w.edge,
        w.log_probability + coalesce(o.best, 0) as best,
        w.log_probability + coalesce(o.total, 0) as total
    from temp.row_path_edge as w
    left join temp.backward_message as o
        on
            w.combination_id = o.combination_id
            and w.target = o.node
            and o.height >= $lowest
    where w.height = $height and (w.target_height = 0 or o.node is not null)
),

peak as (
    select
        combination_id,
        source,
        max(best) as best,
        max(total) as total
    from item
    group by combination_id, source
)

select
    $height as height,
    p.combination_id,
    p.source as node,
    min(i.edge) filter (where i.best >= p.best - 1e-12) as edge,
    p.best,
    p.total + ln(fsum(exp(i.total - p.total))) as total
from item as i
inner join peak as p on i.combination_id = p.combination_id and i.source = p.source
group by p.combination_id, p.source, p.best, p.total
