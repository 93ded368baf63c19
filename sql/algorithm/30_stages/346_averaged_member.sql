-- step:    averaged_member
-- mode:    append temp.changed_member
-- purpose: The situations whose probabilities are averaged over all stagings: those with equal
--          probabilities are one stage.
-- reads:   averaged_probability, recorded_member
-- writes:  changed_member(vertex_id, name, shown_name)
-- params:  none
-- source:  docs/theory.md, section 15 (Averaging over stagings)
with averaged as (
    select
        vertex_id,
        list_sort(list(struct_pack(label := label_id, share := round(probability, 12))))
            as shares
    from temp.averaged_probability
    group by vertex_id
)

select
    a.vertex_id,
    concat(
        'averaged ', min(a.vertex_id) over (partition by r.hyperstage_id, a.shares)
    ) as name,
    cast(null as varchar) as shown_name
from averaged as a
inner join temp.recorded_member as r on a.vertex_id = r.vertex_id
