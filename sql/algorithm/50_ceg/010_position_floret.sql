-- step:    position_floret
-- mode:    create
-- purpose: The size of each position's floret, and whether the position contains its whole
--          stage. All situations of a position have the same labels, so one of them is counted,
--          and only if some floret lacks labels of its stage.
-- reads:   block, stage, label_digit, edge
-- writes:  position_floret(position_id, stage_id, height, n_situations, n_edges, is_whole_stage)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
--          is_full BOOLEAN, whether no floret lacks a label of its stage
-- source:  docs/theory.md, section 4 (Sizes of trees and graphs);
--          docs/architecture.md, section Invariants, no. 2
with counted as (
    select
        e.parent_id,
        count(*) as n_edges
    from cegdb.edge as e
    inner join temp.block as o on e.parent_id = o.position_id
    where e.tree_id = $tree_id and not $is_full
    group by e.parent_id
),

stage_floret as (
    select
        d.stage_id,
        count(*) as n_edges
    from temp.label_digit as d
    group by d.stage_id
)

select
    b.position_id,
    b.stage_id,
    b.height,
    b.n_situations,
    coalesce(c.n_edges, f.n_edges) as n_edges,
    b.n_situations = s.n_situations as is_whole_stage
from temp.block as b
inner join cegdb.stage as s on s.staging_id = $staging_id and b.stage_id = s.stage_id
inner join stage_floret as f on b.stage_id = f.stage_id
left join counted as c on b.position_id = c.parent_id
