-- step:    network_rule
-- mode:    create
-- purpose: The variables of a network in the order of its tree, with the indexes of their
--          parents.
-- reads:   nothing
-- writes:  network_rule(variable_id, variable_index, parent_indexes)
-- params:  variable_ids INTEGER[], the variables in the order of the tree
--          parent_indexes BIGINT[][], for each the indexes of its parents in that order, from 1
-- source:  docs/theory.md, section 10 (Bayesian networks)
select
    unnest(cast($variable_ids as integer[])) as variable_id,
    unnest(range(1, len(cast($variable_ids as integer[])) + 1)) as variable_index,
    unnest(cast($parent_indexes as bigint[][])) as parent_indexes
