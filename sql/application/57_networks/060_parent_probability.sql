-- step:    parent_probability
-- mode:    fetch
-- purpose: The probability of each label of a variable given its parents: that of the stage if
--          all histories share one; else the mean over the histories, weighted by their
--          probability, which gives the network closest to the staged tree.
-- reads:   history_stage, network_edge
-- writes:  parent_probability(answers, label_id, probability)
-- params:  variable_index INTEGER, of the variable
--          parents INTEGER[], indexes of its parents
-- source:  docs/theory.md, section 10 (Bayesian networks)
with history as (
    select
        [answers[i] for i in cast($parents as integer[])] as answers,
        vertex_id,
        stage_key,
        mass
    from temp.history_stage
    where variable_index = $variable_index
),

total as (
    select
        answers,
        list_sum(list_sort(list(mass))) as mass,
        count(*) as n_histories
    from history
    group by answers
),

answered as (
    select
        h.answers,
        h.mass,
        if(h.stage_key = -1, -1, e.label_id) as label_id,
        if(h.stage_key = -1, 1, e.probability) as probability
    from history as h
    left join temp.network_edge as e on h.stage_key <> -1 and h.vertex_id = e.vertex_id
)

select
    a.answers,
    a.label_id,
    if(
        count(*) = min(t.n_histories) and min(a.probability) = max(a.probability),
        min(a.probability),
        list_sum(list_sort(list(a.mass * a.probability))) / min(t.mass)
    ) as probability
from answered as a
inner join total as t on a.answers = t.answers
group by a.answers, a.label_id
order by a.answers, a.label_id
