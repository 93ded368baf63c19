-- step:    given_name
-- mode:    create
-- purpose: The names to show for stages, by a situation of each: first the names from before a
--          rebuild, then those that the user gave. Blanks around a name are removed, as Python
--          does. A name that looks like a generated one (u0, u1, ...) is ignored.
-- reads:   given_group
-- writes:  given_name(vertex_id, name, priority)
-- params:  none
-- source:  serves names of stages given by the user
with trimmed as (
    select
        vertex_id,
        regexp_replace(
            shown_name,
            '^[\s\x0b\x1c-\x1f\x85\p{Z}]+|[\s\x0b\x1c-\x1f\x85\p{Z}]+$',
            '',
            'g'
        ) as name,
        if(role = 'kept', 0, 1) as priority
    from temp.given_group
    where role in ('kept', 'stage', 'frozen')
)

select
    vertex_id,
    name,
    priority
from trimmed
where name <> '' and not regexp_full_match(name, 'u[0-9]+')
