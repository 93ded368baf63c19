-- step:    staged_edge
-- mode:    create
-- purpose: G_0: the edges of the staged tree whose situation has at least the given height,
--          each with the height, stage and respondents of its situation, and the digit of its
--          label in the staging.
-- reads:   edge, level, relabelled_edge, staged_situation, label_digit
-- writes:  staged_edge(vertex_id, height, stage_id, n, digit, child_id)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
--          height INTEGER, the lowest height whose florets are needed
-- source:  Shenvi & Smith (2020), section 3, step 0;
--          docs/theory.md, section 5 (Equivalent labels)
select
    e.parent_id as vertex_id,
    s.height,
    s.stage_id,
    s.n,
    d.digit,
    e.child_id
from cegdb.edge as e
inner join temp.staged_situation as s on e.parent_id = s.vertex_id
inner join cegdb.level as l on e.level_id = l.level_id
left join cegdb.relabelled_edge as r
    on r.staging_id = $staging_id and e.child_id = r.child_id
inner join temp.label_digit as d
    on s.stage_id = d.stage_id and coalesce(r.label_id, l.label_id) = d.label_id
where e.tree_id = $tree_id and s.height >= $height
