-- step:    history_presumed
-- mode:    fetch
-- purpose: The answers presumed impossible in a tree, with the respondents who answered there.
-- reads:   presumed_zero, level
-- writes:  history_presumed(vertex_id, label_id, label, n)
-- params:  tree_id INTEGER, the tree
-- source:  docs/theory.md, section 14 (Structural and sampling zeros)
select
    z.vertex_id,
    l.label_id,
    l.label,
    z.n
from cegdb.presumed_zero as z
inner join cegdb.level as l on z.level_id = l.level_id
where z.tree_id = $tree_id
order by z.vertex_id, l.label_id
