-- step:    history_edge
-- mode:    fetch
-- purpose: The edges of a tree, by situation and label: how many respondents took each, and
--          whether the answer is that the question does not apply.
-- reads:   edge, level
-- writes:  history_edge(parent_id, label_id, n, is_absent)
-- params:  tree_id INTEGER, the tree
-- source:  docs/theory.md, section 16 (Limiting the number of parents)
select
    e.parent_id,
    l.label_id,
    e.n,
    l.kind = 'structural' as is_absent
from cegdb.edge as e
inner join cegdb.level as l on e.level_id = l.level_id
where e.tree_id = $tree_id
order by e.parent_id, l.label_id
