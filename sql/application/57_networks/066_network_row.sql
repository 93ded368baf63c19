-- step:    network_row
-- mode:    create
-- purpose: The conditional tables of a network: one row for each label of a variable and each
--          combination of labels of its parents.
-- reads:   nothing
-- writes:  network_row(level_id, answers, probability)
-- params:  level_ids INTEGER[], the labels
--          answers INTEGER[][], for each the labels of the parents
--          probabilities DOUBLE[], for each its probability given these
-- source:  docs/theory.md, section 10 (Bayesian networks)
select
    unnest(cast($level_ids as integer[])) as level_id,
    unnest(cast($answers as integer[][])) as answers,
    unnest(cast($probabilities as double[])) as probability
