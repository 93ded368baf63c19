-- step:    row_label
-- mode:    create
-- purpose: The distributions of the variables that each combination leaves open. Empty at
--          first; block_label adds rows, block by block.
-- reads:   nothing
-- writes:  row_label(combination_id, rank, label_index, probability)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
select
    cast(0 as bigint) as combination_id,
    cast(0 as integer) as rank,
    cast(0 as integer) as label_index,
    cast(0 as double) as probability
where false
