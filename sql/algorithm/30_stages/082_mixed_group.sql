-- step:    mixed_group
-- mode:    fetch
-- purpose: The first group of one kind whose situations have different label sets or
--          hyperstages, with its first situation and the last one that differs from it.
-- reads:   given_group, floret, situation_group
-- writes:  mixed_group(name, vertex_id, other_id)
-- params:  role VARCHAR, the kind: stage, frozen, initial or hyperstage
--          is_by_labels BOOLEAN, whether label sets are compared, else hyperstages
-- source:  docs/theory.md, section 0 (Notation and definitions);
--          serves stages and hyperstages given by the user
with compared as (
    select
        g.name,
        g.vertex_id,
        if($is_by_labels, cast(f.labels as bigint[]), [h.hyperstage_id]) as shared
    from temp.given_group as g
    inner join temp.floret as f on g.vertex_id = f.vertex_id
    inner join temp.situation_group as h on g.vertex_id = h.vertex_id
    where g.role = $role
),

foremost as (
    select
        name,
        min(vertex_id) as vertex_id,
        arg_min(shared, vertex_id) as shared
    from compared
    group by name
)

select
    c.name,
    l.vertex_id,
    max(c.vertex_id) as other_id
from compared as c
inner join foremost as l on c.name = l.name
where c.shared <> l.shared
group by c.name, l.vertex_id
order by l.vertex_id
limit 1
