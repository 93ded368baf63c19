-- step:    position_edge
-- mode:    create
-- purpose: The edges of each position: those of its situations, added up by label, so that
--          parallel edges stay apart. All edges with one label lead to the same position, that
--          of any child; level_id is the smallest of theirs. For a position that is a whole
--          stage, only the edges of one situation are listed, since the sums of the stage are
--          known.
-- reads:   edge, level, relabelled_edge, position_of, position_floret, block
-- writes:  position_edge(source_id, target_id, stage_id, is_whole_stage, label_id, level_id, n,
--          weight)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
-- source:  Shenvi & Smith (2020), section 3
with part as (
    select
        p.vertex_id,
        f.position_id,
        f.stage_id
    from temp.position_of as p
    inner join temp.position_floret as f on p.position_id = f.position_id
    where f.n_situations > 1 and not f.is_whole_stage
),

answer as (
    select
        p.position_id as source_id,
        p.stage_id,
        false as is_whole_stage,
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
    group by p.position_id, p.stage_id, coalesce(r.label_id, l.label_id)
    union all
    select
        f.position_id as source_id,
        f.stage_id,
        f.is_whole_stage,
        coalesce(r.label_id, l.label_id) as label_id,
        e.level_id,
        e.n,
        e.weight,
        e.child_id
    from cegdb.edge as e
    inner join temp.position_floret as f on e.parent_id = f.position_id
    inner join cegdb.level as l on e.level_id = l.level_id
    left join cegdb.relabelled_edge as r
        on r.staging_id = $staging_id and e.child_id = r.child_id
    where e.tree_id = $tree_id and (f.n_situations = 1 or f.is_whole_stage)
)

select
    a.source_id,
    coalesce(t.position_id, s.position_id) as target_id,
    a.stage_id,
    a.is_whole_stage,
    a.label_id,
    a.level_id,
    a.n,
    a.weight
from answer as a
inner join temp.block as s on s.height = 0
left join temp.position_of as t on a.child_id = t.vertex_id
