-- step:    check_step
-- mode:    fetch
-- purpose: Records of the recursion that do not lead from the tree, G_0, to the CEG: steps not
--          numbered 0, 1, ... with one height each, sizes that do not decrease by what was
--          merged, and counts that differ from the situations and positions of that height.
-- reads:   staging, event_tree, ceg, vertex, position, merge_step
-- writes:  check_step(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 4 (Sizes of trees and graphs);
--          docs/architecture.md, section Tables
with steps as (
    select
        *,
        count(*) over (partition by ceg_id) as n_steps,
        row_number() over (partition by ceg_id order by step) - 1 as step_index,
        lag(n_vertices) over (partition by ceg_id order by step) as before_vertices,
        lag(n_edges) over (partition by ceg_id order by step) as before_edges
    from cegdb.merge_step
),

situations as (
    select
        tree_id,
        height,
        count(*) as n_situations
    from cegdb.vertex
    group by tree_id, height
),

positions as (
    select
        ceg_id,
        height,
        count(*) as n_positions
    from cegdb.position
    group by ceg_id, height
)

select
    'the steps of a CEG are numbered from 0, with one height each' as invariant,
    'ceg' as kind,
    c.name,
    s.step as row_id,
    concat('step ', s.step, ' of ', s.n_steps, ' has height ', s.height) as detail
from steps as s
inner join cegdb.ceg as c on s.ceg_id = c.ceg_id
where s.step <> s.step_index or s.height <> if(s.step = 0, 0, s.step - 1)
union all
select
    'the steps begin at the tree and end at the CEG' as invariant,
    'ceg' as kind,
    c.name,
    cast(null as bigint) as row_id,
    concat(
        coalesce(f.n_vertices, 0), ' vertices and ', coalesce(f.n_edges, 0),
        ' edges at first, ', coalesce(l.n_vertices, 0), ' and ', coalesce(l.n_edges, 0),
        ' at last; expected ', t.n_vertices, ' and ', t.n_vertices - 1, ', then ',
        c.n_vertices, ' and ', c.n_edges
    ) as detail
from cegdb.ceg as c
inner join cegdb.staging as g on c.staging_id = g.staging_id
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
left join steps as f on c.ceg_id = f.ceg_id and f.step_index = 0
left join steps as l on c.ceg_id = l.ceg_id and l.step_index = l.n_steps - 1
where
    f.n_vertices is distinct from t.n_vertices
    or f.n_edges is distinct from t.n_vertices - 1
    or l.n_vertices is distinct from c.n_vertices
    or l.n_edges is distinct from c.n_edges
union all
select
    'a step removes what it merges' as invariant,
    'ceg' as kind,
    c.name,
    s.step as row_id,
    concat(
        'step ', s.step, ' makes ', s.n_positions, ' positions of ', s.n_situations,
        ' situations; vertices ', s.before_vertices, ' to ', s.n_vertices, ', edges ',
        s.before_edges, ' to ', s.n_edges
    ) as detail
from steps as s
inner join cegdb.ceg as c on s.ceg_id = c.ceg_id
where
    s.before_vertices - s.n_vertices <> s.n_situations - s.n_positions
    or s.n_positions > s.n_situations
    or s.n_edges > s.before_edges
union all
select
    'a step merges the situations of its height' as invariant,
    'ceg' as kind,
    c.name,
    s.step as row_id,
    concat(
        'step ', s.step, ' has ', s.n_situations, ' situations and ', s.n_positions,
        ' positions; those of height ', s.height, ' are ', coalesce(v.n_situations, 0),
        ' and ', coalesce(p.n_positions, 0)
    ) as detail
from steps as s
inner join cegdb.ceg as c on s.ceg_id = c.ceg_id
inner join cegdb.staging as g on c.staging_id = g.staging_id
left join situations as v on g.tree_id = v.tree_id and s.height = v.height
left join positions as p on s.ceg_id = p.ceg_id and s.height = p.height
where
    s.step > 0
    and (
        s.n_situations is distinct from v.n_situations
        or s.n_positions is distinct from p.n_positions
    )
order by invariant, name, row_id, detail
