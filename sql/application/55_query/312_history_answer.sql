-- step:    history_answer
-- mode:    fetch
-- purpose: The probabilities of the stages of a staging, with their hyperstages, and how many
--          respondents and how much prior mass each label has.
-- reads:   stage, stage_edge
-- writes:  history_answer(stage_id, hyperstage_id, kind, label_id, n, prior, probability)
-- params:  staging_id INTEGER, the staging
-- source:  docs/theory.md, section 16 (Limiting the number of parents)
select
    s.stage_id,
    s.hyperstage_id,
    s.kind,
    e.label_id,
    coalesce(s.n * e.share, 0) as n,
    e.prior,
    e.probability
from cegdb.stage as s
inner join cegdb.stage_edge as e on s.staging_id = e.staging_id and s.stage_id = e.stage_id
where s.staging_id = $staging_id
order by s.stage_id, e.label_id
