-- step:    staging_parent_set
-- mode:    append cegdb.parent_set
-- purpose: The best sets of parents of each hyperstage, the chosen one first.
-- reads:   learnt_parent_set, situation_group
-- writes:  parent_set(staging_id, hyperstage_id, set_rank, variable_ids, n_configurations, score,
--          difference)
-- params:  staging_id INTEGER, the staging
-- source:  docs/theory.md, section 16 (Limiting the number of parents)
select
    $staging_id as staging_id,
    g.hyperstage_id,
    p.set_rank,
    cast(list_filter(string_split(p.variable_ids, ','), lambda x: x <> '') as integer[])
        as variable_ids,
    p.n_configurations,
    p.score,
    p.score - max_by(p.score, -p.set_rank) over (partition by g.hyperstage_id) as difference
from temp.learnt_parent_set as p
inner join temp.situation_group as g on p.vertex_id = g.vertex_id
order by g.hyperstage_id, p.set_rank
