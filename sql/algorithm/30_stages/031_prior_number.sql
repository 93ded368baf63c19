-- step:    prior_number
-- mode:    create
-- purpose: The priors that the user gave as a table of texts, read as numbers. Null for a
--          vertex_id that is not a whole number (a cast would round it) and for a prior that is
--          not a number.
-- reads:   prior_row
-- writes:  prior_number(vertex_id, label, prior)
-- params:  none
-- source:  serves priors given by the user (prior=)
select
    try_cast(
        regexp_extract(trim(p.vertex_id), '^(-?[0-9]+)([.]0+)?$', 1) as bigint
    ) as vertex_id,
    p.label,
    try_cast(p.prior as double) as prior
from temp.prior_row as p
