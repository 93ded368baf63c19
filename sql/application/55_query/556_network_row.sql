-- step:    network_row
-- mode:    create
-- purpose: The conditional probability tables of a network, one row per label of a variable and
--          labels of its parents.
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
