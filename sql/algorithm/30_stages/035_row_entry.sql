-- step:    row_entry
-- mode:    append temp.given_entry
-- purpose: The priors that the user gave as a table, with the labels of their situations for
--          those that are written in another way.
-- reads:   prior_number, situation_edge
-- writes:  given_entry(vertex_id, label, prior)
-- params:  written VARCHAR[], labels as the table has them
--          labels VARCHAR[], all labels of their situation, as a JSON list in level order
--          meant VARCHAR[], which of these each is
-- source:  serves priors given by the user (prior=), whose labels are found like columns
with situation_label as (
    select
        e.vertex_id,
        cast(to_json(list(e.label order by e.child_id)) as varchar) as labels
    from temp.situation_edge as e
    group by e.vertex_id
),

spelling as (
    select
        unnest(cast($written as varchar[])) as written,
        unnest(cast($labels as varchar[])) as labels,
        unnest(cast($meant as varchar[])) as meant
)

select
    p.vertex_id,
    coalesce(m.meant, p.label) as label,
    p.prior
from temp.prior_number as p
left join situation_label as s on p.vertex_id = s.vertex_id
left join spelling as m on s.labels = m.labels and p.label = m.written
