-- step:    check_relabelled_edge
-- mode:    fetch
-- purpose: New labels given to edges that are not in the tree or have that label already,
--          labels that two edges of one situation would share, and labels whose id belongs to
--          another text.
-- reads:   staging, event_tree, edge, level, labels, relabelled_edge
-- writes:  check_relabelled_edge(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 5 (Equivalent labels); docs/architecture.md, section Ids
with given as (
    select
        g.staging_id,
        g.name,
        t.tree_id,
        t.survey_id,
        r.child_id,
        r.label_id,
        r.label,
        count(*) over (partition by r.staging_id, r.child_id) as n_labels
    from cegdb.relabelled_edge as r
    inner join cegdb.staging as g on r.staging_id = g.staging_id
    inner join cegdb.event_tree as t on g.tree_id = t.tree_id
),

relabelled as (
    select distinct
        staging_id,
        name,
        tree_id
    from given
),

joined as (
    select
        x.name,
        e.parent_id,
        coalesce(r.label_id, l.label_id) as label_id,
        count(*) as n_edges
    from relabelled as x
    inner join cegdb.edge as e on x.tree_id = e.tree_id
    inner join cegdb.level as l on e.level_id = l.level_id
    left join cegdb.relabelled_edge as r
        on x.staging_id = r.staging_id and e.child_id = r.child_id
    group by x.staging_id, x.name, e.parent_id, coalesce(r.label_id, l.label_id)
    having count(*) > 1
),

spelt as (
    select distinct
        name,
        survey_id,
        label_id,
        label
    from given
)

select
    'a label is given once to an edge of the tree' as invariant,
    'staging' as kind,
    r.name,
    r.child_id as row_id,
    concat(
        r.n_labels, ' labels, one of them ', r.label, ', are given to the edge to vertex ',
        r.child_id, if(e.child_id is null, ', which is not in the tree', '')
    ) as detail
from given as r
left join cegdb.edge as e on r.tree_id = e.tree_id and r.child_id = e.child_id
where e.child_id is null or r.n_labels > 1
union all
select
    'a label given to an edge is not the one it has in the tree' as invariant,
    'staging' as kind,
    r.name,
    r.child_id as row_id,
    concat('the edge to vertex ', r.child_id, ' already has the label ', r.label) as detail
from given as r
inner join cegdb.edge as e on r.tree_id = e.tree_id and r.child_id = e.child_id
inner join cegdb.level as l on e.level_id = l.level_id and r.label_id = l.label_id
union all
select
    'labels given to edges do not join siblings' as invariant,
    'staging' as kind,
    name,
    parent_id as row_id,
    concat('vertex ', parent_id, ' has ', n_edges, ' edges of label ', label_id) as detail
from joined
union all
select
    'a label given to edges has the id of its text' as invariant,
    'staging' as kind,
    r.name,
    cast(r.label_id as bigint) as row_id,
    concat(
        'label ', r.label, ' has the id ', r.label_id, ', and label ', s.label, ' the id ',
        s.label_id
    ) as detail
from spelt as r
inner join cegdb.labels as s
    on
        r.survey_id = s.survey_id
        and (r.label = s.label) <> (r.label_id = s.label_id)
order by invariant, name, row_id, detail
