-- step:    check_tree_count
-- mode:    fetch
-- purpose: Event trees whose counts do not add up: each respondent who reaches a situation
--          takes one of its edges or stops there, and each respondent of the tree ends exactly
--          once.
-- reads:   survey, event_tree, vertex, edge
-- writes:  check_tree_count(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Invariants, no. 1;
--          docs/theory.md, section 1 (Event trees from data), invariants
with florets as (
    select
        tree_id,
        parent_id,
        sum(n) as n
    from cegdb.edge
    group by tree_id, parent_id
),

totals as (
    select
        tree_id,
        sum(if(variable_id is null, n, n_stopped)) as n_ended,
        sum(n) filter (where vertex_id = 0) as n_root
    from cegdb.vertex
    group by tree_id
)

select
    'rows at a situation go on or stop' as invariant,
    'tree' as kind,
    t.name,
    v.vertex_id as row_id,
    concat(
        v.n, ' rows reach vertex ', v.vertex_id, ', ', f.n, ' go on and ', v.n_stopped,
        ' stop'
    ) as detail
from cegdb.vertex as v
inner join florets as f on v.tree_id = f.tree_id and v.vertex_id = f.parent_id
inner join cegdb.event_tree as t on v.tree_id = t.tree_id
where v.n <> f.n + v.n_stopped
union all
select
    'no row stops at a leaf' as invariant,
    'tree' as kind,
    t.name,
    v.vertex_id as row_id,
    concat(v.n_stopped, ' rows stop at the leaf ', v.vertex_id) as detail
from cegdb.vertex as v
inner join cegdb.event_tree as t on v.tree_id = t.tree_id
where v.variable_id is null and v.n_stopped <> 0
union all
select
    'the rows of an edge reach its child' as invariant,
    'tree' as kind,
    t.name,
    e.child_id as row_id,
    concat(e.n, ' rows take the edge to vertex ', e.child_id, ', ', c.n, ' reach it') as detail
from cegdb.edge as e
inner join cegdb.vertex as c on e.tree_id = c.tree_id and e.child_id = c.vertex_id
inner join cegdb.event_tree as t on e.tree_id = t.tree_id
where e.n <> c.n
union all
select
    'each row of a tree starts at the root and ends once' as invariant,
    'tree' as kind,
    t.name,
    cast(null as bigint) as row_id,
    concat(
        t.n, ' rows in the catalog, ', coalesce(s.n_root, 0), ' at the root, ', s.n_ended,
        ' end'
    ) as detail
from cegdb.event_tree as t
inner join totals as s on t.tree_id = s.tree_id
where t.n is distinct from s.n_root or t.n <> s.n_ended
union all
select
    'a tree has no more rows than its survey' as invariant,
    'tree' as kind,
    t.name,
    cast(null as bigint) as row_id,
    concat(t.n, ' rows, ', s.n, ' in the survey') as detail
from cegdb.event_tree as t
inner join cegdb.survey as s on t.survey_id = s.survey_id
where t.n > s.n
order by invariant, name, row_id, detail
