-- step:    check_position
-- mode:    fetch
-- purpose: Positions whose id is not that of their smallest vertex, whose sizes differ from
--          those of their members, or whose members differ in stage or height. In a CEG given
--          evidence, stages and heights differ from the tree's: check_given covers them.
-- reads:   staging, ceg, vertex, stage_member, position, position_member
-- writes:  check_position(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Ids;
--          docs/theory.md, section 2 (Positions and the backward recursion), lemma on heights
with members as (
    select
        m.ceg_id,
        m.position_id,
        min(m.vertex_id) as smallest_id,
        count(*) as n_situations,
        sum(v.n) as n,
        min(if(c.staging_id is null, null, v.height)) as least_height,
        max(if(c.staging_id is null, null, v.height)) as most_height,
        min(if(c.staging_id is null, null, coalesce(s.stage_id, -1))) as least_stage_id,
        max(if(c.staging_id is null, null, coalesce(s.stage_id, -1))) as most_stage_id
    from cegdb.position_member as m
    inner join cegdb.ceg as c on m.ceg_id = c.ceg_id
    inner join cegdb.staging as g
        on coalesce(c.staging_id, c.root_staging_id) = g.staging_id
    inner join cegdb.vertex as v on g.tree_id = v.tree_id and m.vertex_id = v.vertex_id
    left join cegdb.stage_member as s
        on c.staging_id = s.staging_id and m.vertex_id = s.vertex_id
    group by m.ceg_id, m.position_id
),

joined as (
    select
        coalesce(p.ceg_id, m.ceg_id) as ceg_id,
        coalesce(p.position_id, m.position_id) as position_id,
        coalesce(p.stage_id, -1) as stage_id,
        p.height,
        p.n_situations as stored_situations,
        p.n as stored_n,
        coalesce(m.n_situations, 0) as n_situations,
        coalesce(m.n, 0) as n,
        m.smallest_id,
        m.least_height,
        m.most_height,
        m.least_stage_id,
        m.most_stage_id
    from cegdb.position as p
    full join members as m on p.ceg_id = m.ceg_id and p.position_id = m.position_id
),

wrong as (
    select
        j.*,
        c.name
    from joined as j
    inner join cegdb.ceg as c on j.ceg_id = c.ceg_id
    where
        j.smallest_id is distinct from j.position_id
        or j.stored_situations is distinct from j.n_situations
        or j.stored_n is distinct from j.n
        or j.least_height <> j.height
        or j.most_height <> j.height
        or j.least_stage_id <> j.stage_id
        or j.most_stage_id <> j.stage_id
),

repeated as (
    select
        ceg_id,
        position_id,
        count(*) as n_rows
    from cegdb.position
    group by ceg_id, position_id
    having count(*) > 1
)

select
    'a position is named by its smallest vertex' as invariant,
    'ceg' as kind,
    name,
    position_id as row_id,
    concat(
        'the smallest member of position ', position_id, ' is ',
        coalesce(cast(smallest_id as varchar), 'none')
    ) as detail
from wrong
where smallest_id is distinct from position_id
union all
select
    'the sizes of a position are those of its members' as invariant,
    'ceg' as kind,
    name,
    position_id as row_id,
    concat(
        'position ', position_id, ' has ', coalesce(stored_situations, 0), ' members of ',
        coalesce(stored_n, 0), ' rows; they are ', n_situations, ' of ', n
    ) as detail
from wrong
where stored_situations is distinct from n_situations or stored_n is distinct from n
union all
select
    'the members of a position have its height' as invariant,
    'ceg' as kind,
    name,
    position_id as row_id,
    concat(
        'position ', position_id, ' has height ', height, ', its members ', least_height,
        ' to ', most_height
    ) as detail
from wrong
where least_height <> height or most_height <> height
union all
select
    'positions refine stages' as invariant,
    'ceg' as kind,
    name,
    position_id as row_id,
    concat(
        'position ', position_id, ' has stage ', nullif(stage_id, -1),
        ', its members have stages ', nullif(least_stage_id, -1), ' to ',
        nullif(most_stage_id, -1), ' (none: a leaf)'
    ) as detail
from wrong
where least_stage_id <> stage_id or most_stage_id <> stage_id
union all
select
    'a position has one row' as invariant,
    'ceg' as kind,
    c.name,
    r.position_id as row_id,
    concat('position ', r.position_id, ' has ', r.n_rows, ' rows') as detail
from repeated as r
inner join cegdb.ceg as c on r.ceg_id = c.ceg_id
order by invariant, name, row_id, detail
