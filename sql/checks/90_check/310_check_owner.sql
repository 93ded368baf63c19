-- step:    check_owner
-- mode:    fetch
-- purpose: Rows whose survey, tree, staging or CEG no longer exists. Dropping an object must
--          leave none.
-- reads:   every table but response_<survey_id>
-- writes:  check_owner(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Tables: references are checked, not declared
with owned as (
    select
        'survey' as kind,
        'variable' as rows_of,
        survey_id as owner_id
    from cegdb.variable
    union all
    select
        case
            when survey_id is not null then 'survey'
            when tree_id is not null then 'tree'
            else 'staging'
        end as kind,
        'finding' as rows_of,
        coalesce(survey_id, tree_id, staging_id) as owner_id
    from cegdb.finding
    union all
    select
        'tree' as kind,
        'vertex' as rows_of,
        tree_id as owner_id
    from cegdb.vertex
    union all
    select
        'tree' as kind,
        'edge' as rows_of,
        tree_id as owner_id
    from cegdb.edge
    union all
    select
        'tree' as kind,
        'vertex_weight' as rows_of,
        tree_id as owner_id
    from cegdb.vertex_weight
    union all
    select
        'staging' as kind,
        'hyperstage' as rows_of,
        staging_id as owner_id
    from cegdb.hyperstage
    union all
    select
        'staging' as kind,
        'stage' as rows_of,
        staging_id as owner_id
    from cegdb.stage
    union all
    select
        'staging' as kind,
        'stage_member' as rows_of,
        staging_id as owner_id
    from cegdb.stage_member
    union all
    select
        'staging' as kind,
        'stage_edge' as rows_of,
        staging_id as owner_id
    from cegdb.stage_edge
    union all
    select
        'staging' as kind,
        'prior_entry' as rows_of,
        staging_id as owner_id
    from cegdb.prior_entry
    union all
    select
        'staging' as kind,
        'ahc_merge' as rows_of,
        staging_id as owner_id
    from cegdb.ahc_merge
    union all
    select
        'staging' as kind,
        'parent_set' as rows_of,
        staging_id as owner_id
    from cegdb.parent_set
    union all
    select
        'staging' as kind,
        'stage_drift' as rows_of,
        staging_id as owner_id
    from cegdb.stage_drift
    union all
    select
        'staging' as kind,
        'stage_bootstrap' as rows_of,
        staging_id as owner_id
    from cegdb.stage_bootstrap
    union all
    select
        'staging' as kind,
        'situation_pair' as rows_of,
        staging_id as owner_id
    from cegdb.situation_pair
    union all
    select
        'staging' as kind,
        'bootstrap_interval' as rows_of,
        staging_id as owner_id
    from cegdb.bootstrap_interval
    union all
    select
        'staging' as kind,
        'costaging' as rows_of,
        staging_id as owner_id
    from cegdb.costaging
    union all
    select
        'staging' as kind,
        'hyperstage_posterior' as rows_of,
        staging_id as owner_id
    from cegdb.hyperstage_posterior
    union all
    select
        'staging' as kind,
        'relabelled_edge' as rows_of,
        staging_id as owner_id
    from cegdb.relabelled_edge
    union all
    select
        'ceg' as kind,
        'position' as rows_of,
        ceg_id as owner_id
    from cegdb.position
    union all
    select
        'ceg' as kind,
        'position_member' as rows_of,
        ceg_id as owner_id
    from cegdb.position_member
    union all
    select
        'ceg' as kind,
        'ceg_edge' as rows_of,
        ceg_id as owner_id
    from cegdb.ceg_edge
    union all
    select
        'ceg' as kind,
        'merge_step' as rows_of,
        ceg_id as owner_id
    from cegdb.merge_step
    union all
    select
        'ceg' as kind,
        'ceg_stage' as rows_of,
        ceg_id as owner_id
    from cegdb.ceg_stage
),

counted as (
    select
        kind,
        rows_of,
        owner_id,
        count(*) as n_rows
    from owned
    group by kind, rows_of, owner_id
),

owners as (
    select
        'survey' as kind,
        survey_id as owner_id
    from cegdb.survey
    union all
    select
        'tree' as kind,
        tree_id as owner_id
    from cegdb.event_tree
    union all
    select
        'staging' as kind,
        staging_id as owner_id
    from cegdb.staging
    union all
    select
        'ceg' as kind,
        ceg_id as owner_id
    from cegdb.ceg
)

select
    'rows belong to an object' as invariant,
    c.kind,
    cast(null as varchar) as name,
    cast(null as bigint) as row_id,
    concat(
        c.n_rows, ' rows of ', c.rows_of, ' belong to ', c.kind, ' ', c.owner_id,
        ', which is gone'
    ) as detail
from counted as c
left join owners as o on c.kind = o.kind and c.owner_id = o.owner_id
where o.owner_id is null
order by c.kind, c.rows_of, c.owner_id
