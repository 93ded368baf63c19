-- step:    group_row
-- mode:    create
-- purpose: The rows of a table in which the user groups situations, with vertex_id read as a
--          number; null if it is not a whole number (a cast would round it).
-- reads:   written_row
-- writes:  group_row(written, vertex_id, name)
-- params:  none
-- source:  serves stages, priors and hyperstages that a user gives as a table
select
    vertex_id as written,
    try_cast(
        regexp_extract(trim(vertex_id), '^(-?[0-9]+)([.]0+)?$', 1) as bigint
    ) as vertex_id,
    name
from temp.written_row
