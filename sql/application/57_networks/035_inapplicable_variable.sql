-- step:    inapplicable_variable
-- mode:    fetch
-- purpose: The variables of a network that do not apply after some history, which gives them
--          the label 'not applicable'.
-- reads:   history_stage, network_edge
-- writes:  inapplicable_variable(variable_index)
-- params:  none
-- source:  docs/theory.md, section 10 (Bayesian networks)
select distinct c.variable_index
from temp.history_stage as c
where c.stage_key = -1
union
select e.variable_index
from temp.network_edge as e
where e.label_id = -1
