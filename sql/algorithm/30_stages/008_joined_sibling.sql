-- step:    joined_sibling
-- mode:    fetch
-- purpose: The first situation with two edges that would get the same label, which is not
--          allowed: edges of one floret need different labels.
-- reads:   edge, level, relabel_edge, given_label
-- writes:  joined_sibling(vertex_id, raw_labels, label)
-- params:  tree_id INTEGER, the tree
-- source:  docs/theory.md, section 5 (Equivalent labels)
select
    e.parent_id as vertex_id,
    list_sort(list(l.label)) as raw_labels,
    max(r.label) as label
from cegdb.edge as e
inner join cegdb.level as l on e.level_id = l.level_id
left join temp.given_label as r on e.child_id = r.child_id
where
    e.tree_id = $tree_id
    and e.parent_id in (
        select x.vertex_id
        from temp.relabel_edge as x
    )
group by e.parent_id, coalesce(r.label_id, l.label_id)
having count(*) > 1
order by e.parent_id
limit 1
