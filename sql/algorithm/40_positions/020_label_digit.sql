-- step:    label_digit
-- mode:    create
-- purpose: Numbers the labels of each stage, so that the floret of a situation can be written
--          as one integer with one digit per label.
-- reads:   stage_edge
-- writes:  label_digit(stage_id, label_id, digit)
-- params:  staging_id INTEGER, the staging
-- source:  docs/architecture.md, section Scale
select
    stage_id,
    label_id,
    cast(row_number() over (partition by stage_id order by label_id) - 1 as integer) as digit
from cegdb.stage_edge
where staging_id = $staging_id
