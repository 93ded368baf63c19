-- step:    position_edge
-- mode:    create
-- purpose: The edges of the situations of each position, put together by label (so parallel
--          edges stay apart). All with one label lead to one position: that of any child.
--          level_id is that of one of them.
-- reads:   edge, level, relabelled_edge, position_of, block, plain_position,
--          stage_edge
-- writes:  position_edge(source_id, target_id, label_id, level_id, n, weight)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
-- source:  Shenvi & Smith (2020), section 3
with part as (
    select
        p.vertex_id,
        p.position_id
    from temp.position_of as p
    left join temp.plain_position as o on p.position_id = o.position_id
    where o.position_id is null
),

answer as (
    select
        p.position_id as source_id,
        coalesce(r.label_id, l.label_id) as label_id,
        min(e.level_id) as level_id,
        cast(sum(e.n) as bigint) as n,
        sum(e.weight) as weight,
        min(e.child_id) as child_id
    from cegdb.edge as e
    inner join part as p on e.parent_id = p.vertex_id
    inner join cegdb.level as l on e.level_id = l.level_id
    left join cegdb.relabelled_edge as r
        on r.staging_id = $staging_id and e.child_id = r.child_id
    where e.tree_id = $tree_id
    group by p.position_id, coalesce(r.label_id, l.label_id)
    union all
    select
        o.position_id as source_id,
        coalesce(r.label_id, l.label_id) as label_id,
        e.level_id,
        coalesce(g.n, e.n) as n,
        coalesce(g.weight, e.weight) as weight,
        e.child_id
    from cegdb.edge as e
    inner join temp.plain_position as o on e.parent_id = o.position_id
    inner join cegdb.level as l on e.level_id = l.level_id
    left join cegdb.relabelled_edge as r
        on r.staging_id = $staging_id and e.child_id = r.child_id
    left join cegdb.stage_edge as g
        on
            g.staging_id = $staging_id
            and o.whole_stage_id = g.stage_id
            and coalesce(r.label_id, l.label_id) = g.label_id
    where e.tree_id = $tree_id
)

select
    a.source_id,
    coalesce(t.position_id, s.position_id) as target_id,
    a.label_id,
    a.level_id,
    a.n,
    a.weight
from answer as a
inner join temp.block as s on s.height = 0
left join temp.position_of as t on a.child_id = t.vertex_id
