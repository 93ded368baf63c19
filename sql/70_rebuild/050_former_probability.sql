-- step:    former_probability
-- mode:    create
-- purpose: The probabilities of a staging that is to be made again, by label.
-- reads:   stage_edge, labels
-- writes:  former_probability(stage_id, label, probability, low, high)
-- params:  staging_id INTEGER, the staging
--          survey_id INTEGER, the superseded rows that its labels are of
-- source:  DESIGN 4
select
    e.stage_id,
    l.label,
    e.probability,
    e.low,
    e.high
from cegdb.stage_edge as e
inner join cegdb.labels as l on e.label_id = l.label_id
where e.staging_id = $staging_id and l.survey_id = $survey_id
