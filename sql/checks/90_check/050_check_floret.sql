-- step:    check_floret
-- mode:    fetch
-- purpose: Florets with an edge of another variable than the situation's, or with the same
--          label twice.
-- reads:   event_tree, vertex, edge, level
-- writes:  check_floret(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 0 (Notation and definitions);
--          docs/theory.md, section 1 (Event trees from data), invariants
with repeated as (
    select
        e.tree_id,
        e.parent_id,
        min(l.label) as label,
        count(*) as n_edges
    from cegdb.edge as e
    inner join cegdb.level as l on e.level_id = l.level_id
    group by e.tree_id, e.parent_id, l.label_id
    having count(*) > 1
)

select
    'the edges of a floret answer its variable' as invariant,
    'tree' as kind,
    t.name,
    v.vertex_id as row_id,
    concat(
        'the edge from vertex ', v.vertex_id, ' to ', e.child_id, ' is ', l.label,
        ' of variable ', l.variable_id, ', expected variable ', coalesce(v.variable_id, 0)
    ) as detail
from cegdb.edge as e
inner join cegdb.level as l on e.level_id = l.level_id
inner join cegdb.vertex as v on e.tree_id = v.tree_id and e.parent_id = v.vertex_id
inner join cegdb.event_tree as t on e.tree_id = t.tree_id
where v.variable_id is distinct from l.variable_id
union all
select
    'the labels of a floret differ' as invariant,
    'tree' as kind,
    t.name,
    r.parent_id as row_id,
    concat('vertex ', r.parent_id, ' has ', r.n_edges, ' edges ', r.label) as detail
from repeated as r
inner join cegdb.event_tree as t on r.tree_id = t.tree_id
order by invariant, name, row_id, detail
