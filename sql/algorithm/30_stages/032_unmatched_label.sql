-- step:    unmatched_label
-- mode:    fetch
-- purpose: The labels in a table of priors that are not written as in their situation, each
--          once for all situations with the same labels (a JSON list, in level order).
-- reads:   prior_number, situation_edge
-- writes:  unmatched_label(label, labels)
-- params:  none
-- source:  serves priors given by the user (prior=), whose labels are found like columns
with situation_label as (
    select
        e.vertex_id,
        list(e.label order by e.child_id) as labels
    from temp.situation_edge as e
    group by e.vertex_id
)

select distinct
    p.label,
    cast(to_json(s.labels) as varchar) as labels
from temp.prior_number as p
inner join situation_label as s on p.vertex_id = s.vertex_id
where p.label is not null and not list_contains(s.labels, p.label)
order by p.label, labels
