-- step:    check_tree_weight
-- mode:    fetch
-- purpose: Weighted event trees whose weights do not add up. Respondents who stop at a
--          situation are counted, but their weight is not stored; there the floret may weigh
--          less.
-- reads:   event_tree, vertex, edge
-- writes:  check_tree_weight(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Tables;
--          docs/theory.md, section 1 (Event trees from data)
with florets as (
    select
        tree_id,
        parent_id,
        sum(weight) as weight
    from cegdb.edge
    where weight is not null
    group by tree_id, parent_id
)

select
    'weights are not negative' as invariant,
    'tree' as kind,
    t.name,
    v.vertex_id as row_id,
    concat('vertex ', v.vertex_id, ' weighs ', v.weight) as detail
from cegdb.vertex as v
inner join cegdb.event_tree as t on v.tree_id = t.tree_id
where v.weight < 0
union all
select
    'an edge weighs what its child does' as invariant,
    'tree' as kind,
    t.name,
    e.child_id as row_id,
    concat(
        'the edge to vertex ', e.child_id, ' weighs ',
        coalesce(cast(e.weight as varchar), 'nothing'),
        ', the vertex ', coalesce(cast(c.weight as varchar), 'nothing')
    ) as detail
from cegdb.edge as e
inner join cegdb.vertex as c on e.tree_id = c.tree_id and e.child_id = c.vertex_id
inner join cegdb.event_tree as t on e.tree_id = t.tree_id
where e.weight is distinct from c.weight
union all
select
    'a situation weighs what its floret does, and what stops there' as invariant,
    'tree' as kind,
    t.name,
    v.vertex_id as row_id,
    concat(
        'vertex ', v.vertex_id, ' weighs ', coalesce(cast(v.weight as varchar), 'nothing'),
        ', its edges ', f.weight, '; ', v.n_stopped, ' rows stop'
    ) as detail
from cegdb.vertex as v
inner join florets as f on v.tree_id = f.tree_id and v.vertex_id = f.parent_id
inner join cegdb.event_tree as t on v.tree_id = t.tree_id
where v.weight is null or v.weight < f.weight or (v.weight > f.weight and v.n_stopped = 0)
order by invariant, name, row_id, detail
