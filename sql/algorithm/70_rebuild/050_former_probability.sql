-- step:    former_probability
-- mode:    create
-- purpose: The probabilities of a staging to rebuild, by label.
-- reads:   stage_edge, labels, relabelled_edge
-- writes:  former_probability(stage_id, label, probability, low, high)
-- params:  staging_id INTEGER, the staging
--          survey_id INTEGER, the superseded survey that its labels belong to
-- source:  serves the drift of stages after new rows (cegdb rebuild)
with given as (
    select distinct
        label_id,
        label
    from cegdb.relabelled_edge
    where staging_id = $staging_id
)

select
    e.stage_id,
    coalesce(g.label, l.label) as label,
    e.probability,
    e.low,
    e.high
from cegdb.stage_edge as e
left join given as g on e.label_id = g.label_id
left join cegdb.labels as l on l.survey_id = $survey_id and e.label_id = l.label_id
where e.staging_id = $staging_id
