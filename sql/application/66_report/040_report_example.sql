-- step:    report_example
-- mode:    create
-- purpose: A few situations of each stage to report, those that most people reach.
-- reads:   vertex, position, position_member, reported_stage
-- writes:  report_example(vertex_id, stage_id, n)
-- params:  tree_id INTEGER, the tree
--          ceg_id INTEGER, its CEG
--          most INTEGER, how many of a stage
--          by_people BOOLEAN, true for those with most people first, false for the order of ids
-- source:  serves the reports in words: stages of too many situations to compare
select
    v.vertex_id,
    p.stage_id,
    v.n
from cegdb.position as p
inner join temp.reported_stage as a on p.stage_id = a.stage_id
inner join cegdb.position_member as m on m.ceg_id = $ceg_id and p.position_id = m.position_id
inner join cegdb.vertex as v on v.tree_id = $tree_id and m.vertex_id = v.vertex_id
where p.ceg_id = $ceg_id
qualify
    row_number() over (
        partition by p.stage_id order by if($by_people, -v.n, 0), v.vertex_id
    ) <= $most
