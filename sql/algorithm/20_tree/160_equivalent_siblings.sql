-- step:    equivalent_siblings
-- mode:    fetch
-- purpose: The first situation with two edges whose labels are declared the same, which is not
--          allowed: edges of one floret need different labels.
-- reads:   edge, level
-- writes:  equivalent_siblings(parent_id, labels)
-- params:  tree_id INTEGER, the tree
-- source:  docs/theory.md, section 5 (Equivalent labels)
select
    e.parent_id,
    list_sort(list(l.label)) as labels
from cegdb.edge as e
inner join cegdb.level as l on e.level_id = l.level_id
where e.tree_id = $tree_id
group by e.parent_id, l.label_id
having count(*) > 1
order by e.parent_id
limit 1
