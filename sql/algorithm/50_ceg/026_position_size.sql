-- step:    position_size
-- mode:    create
-- purpose: What each label of each situation counts, its rows or their effective count, in the
--          hyperstages of which some stage is divided among several positions, and the
--          probability of the stage.
-- reads:   position_floret, position_of, edge_size, stage, stage_edge, edge, level,
--          relabelled_edge
-- writes:  position_size(hyperstage_id, vertex_id, position_id, label_id, size, probability)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
-- source:  docs/theory.md, section 17 (Uncertainty of answers)
with divided as (
    select distinct s.hyperstage_id
    from temp.position_floret as f
    inner join cegdb.stage as s on s.staging_id = $staging_id and f.stage_id = s.stage_id
    where not f.is_whole_stage
)

select
    s.hyperstage_id,
    p.vertex_id,
    p.position_id,
    coalesce(r.label_id, l.label_id) as label_id,
    cast(coalesce(z.size, e.n) as double) as size,
    g.probability
from divided as d
inner join cegdb.stage as s
    on s.staging_id = $staging_id and d.hyperstage_id = s.hyperstage_id
inner join temp.position_floret as f on s.stage_id = f.stage_id
inner join temp.position_of as p on f.position_id = p.position_id
inner join cegdb.edge as e on e.tree_id = $tree_id and p.vertex_id = e.parent_id
inner join cegdb.level as l on e.level_id = l.level_id
left join cegdb.relabelled_edge as r
    on r.staging_id = $staging_id and e.child_id = r.child_id
inner join cegdb.stage_edge as g
    on
        g.staging_id = $staging_id
        and s.stage_id = g.stage_id
        and g.label_id = coalesce(r.label_id, l.label_id)
left join temp.edge_size as z on e.child_id = z.child_id
