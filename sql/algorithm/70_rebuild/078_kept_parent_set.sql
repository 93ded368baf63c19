-- step:    kept_parent_set
-- mode:    append cegdb.parent_set
-- purpose: The best sets of parents from before a rebuild that keeps the stages: each hyperstage
--          has those of the former one from which most of its situations come.
-- reads:   former_parent_set, remaining_situation, situation_group, variable
-- writes:  parent_set(staging_id, hyperstage_id, set_rank, variable_ids, n_configurations, score,
--          difference)
-- params:  staging_id INTEGER, the staging
--          survey_id INTEGER, its survey
-- source:  serves making stale objects again after new rows (cegdb rebuild)
with origin as (
    select
        g.hyperstage_id,
        r.hyperstage_id as former_id,
        row_number() over (
            partition by g.hyperstage_id order by count(*) desc, r.hyperstage_id
        ) as nth
    from temp.situation_group as g
    inner join temp.remaining_situation as r on g.vertex_id = r.vertex_id
    where r.kind = 'learnt'
    group by g.hyperstage_id, r.hyperstage_id
),

named as (
    select
        hyperstage_id,
        set_rank,
        unnest(parents) as name,
        generate_subscripts(parents, 1) as i
    from temp.former_parent_set
),

listed as (
    select
        n.hyperstage_id,
        n.set_rank,
        list_sort(list(struct_pack(i := n.i, id := v.variable_id))) as variables
    from named as n
    inner join cegdb.variable as v on v.survey_id = $survey_id and n.name = v.name
    group by n.hyperstage_id, n.set_rank
)

select
    $staging_id as staging_id,
    o.hyperstage_id,
    p.set_rank,
    coalesce([one.id for one in l.variables], []) as variable_ids,
    p.n_configurations,
    p.score,
    p.difference
from temp.former_parent_set as p
inner join origin as o on p.hyperstage_id = o.former_id and o.nth = 1
left join listed as l on p.hyperstage_id = l.hyperstage_id and p.set_rank = l.set_rank
order by o.hyperstage_id, p.set_rank
