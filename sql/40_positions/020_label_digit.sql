-- step:    label_digit
-- mode:    create
-- purpose: The labels of each hyperstage, numbered, so that the floret of a situation can be
--          told by one integer with a digit a label.
-- reads:   stage, stage_edge
-- writes:  label_digit(hyperstage_id, label_id, digit)
-- params:  staging_id INTEGER, the staging
-- source:  DESIGN 8
select
    hyperstage_id,
    label_id,
    cast(row_number() over (partition by hyperstage_id order by label_id) - 1 as integer)
        as digit
from (
    select distinct
        s.hyperstage_id,
        e.label_id
    from cegdb.stage_edge as e
    inner join cegdb.stage as s on s.staging_id = $staging_id and e.stage_id = s.stage_id
    where e.staging_id = $staging_id
) as used
