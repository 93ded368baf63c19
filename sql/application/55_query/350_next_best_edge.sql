-- step:    next_best_edge
-- mode:    append temp.row_best
-- purpose: The next edge on the most probable path of each combination, with the answers that
--          complete it so far, as text.
-- reads:   row_best, backward_message, edge_answer, row_cell
-- writes:  row_best(height, combination_id, node, completion)
-- params:  height INTEGER, of the positions, the highest first
-- source:  docs/theory.md, section 8 (Probability propagation), most probable path;
--          serves answers for each row of a file (assign, complete, score)
select
    e.target_height as height,
    b.combination_id,
    e.target as node,
    case
        when c.answer >= 0 then b.completion
        when b.completion is null then e.answer_text
        else b.completion || ', ' || e.answer_text
    end as completion
from temp.row_best as b
inner join temp.backward_message as o
    on
        b.combination_id = o.combination_id
        and b.node = o.node
        and o.height = $height
inner join temp.edge_answer as e on o.edge = e.edge
inner join temp.row_cell as c on b.combination_id = c.combination_id and e.rank = c.rank
where b.height = $height
