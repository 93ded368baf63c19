-- step:    situation_group
-- mode:    create
-- purpose: The hyperstage of each situation, with the id of its smallest situation: a given
--          group, or the situations with the same labels and, by the rule, the same variable,
--          height or shortest distance to a leaf.
-- reads:   floret, vertex, leaf_distance, given_group
-- writes:  situation_group(vertex_id, hyperstage_id)
-- params:  tree_id INTEGER, the tree
--          rule VARCHAR, 'variable', 'labels', 'height' or 'paper'
-- source:  docs/theory.md, section 1 (Event trees from data)
with keyed as (
    select
        f.vertex_id,
        f.labels,
        g.name,
        case
            when g.name is not null then null
            when $rule = 'variable' then f.variable_id
            when $rule = 'height' then v.height
            when $rule = 'paper' then d.distance
        end as part
    from temp.floret as f
    inner join cegdb.vertex as v on v.tree_id = $tree_id and f.vertex_id = v.vertex_id
    left join temp.leaf_distance as d on f.vertex_id = d.vertex_id
    left join temp.given_group as g
        on g.role = 'hyperstage' and f.vertex_id = g.vertex_id
),

grouped as (
    select
        labels,
        name,
        part,
        min(vertex_id) as hyperstage_id
    from keyed
    group by labels, name, part
)

select
    k.vertex_id,
    g.hyperstage_id
from keyed as k
inner join grouped as g
    on
        k.labels = g.labels
        and k.name is not distinct from g.name
        and k.part is not distinct from g.part
