-- step:    dependence_rule
-- mode:    create
-- purpose: The earlier answers on which the stages of a variable depend.
-- reads:   nothing
-- writes:  dependence_rule(variable_id, answer_indices)
-- params:  variable_ids INTEGER[], variables with a rule
--          answer_indices INTEGER[][], for each, which of the answers in dependence_stage
-- source:  docs/theory.md, section 0 (Notation and definitions);
--          serves stages given as rules (depends=)
select
    unnest(cast($variable_ids as integer[])) as variable_id,
    unnest(cast($answer_indices as integer[][])) as answer_indices
