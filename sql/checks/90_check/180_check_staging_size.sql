-- step:    check_staging_size
-- mode:    fetch
-- purpose: Stagings whose sizes in the catalog differ from those of the tables. The number of
--          free parameters is the sum, over the stages that rows (or their weights) count in, of
--          the number of labels minus 1.
-- reads:   staging, hyperstage, stage, stage_edge
-- writes:  check_staging_size(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 6 (Scores and clustering);
--          docs/architecture.md, section Tables
with hyperstages as (
    select
        staging_id,
        count(*) as n_hyperstages
    from cegdb.hyperstage
    group by staging_id
),

stages as (
    select
        staging_id,
        count(*) as n_stages
    from cegdb.stage
    group by staging_id
),

florets as (
    select
        staging_id,
        count(*) - 1 as df,
        sum(n) as n,
        sum(weight) as weight
    from cegdb.stage_edge
    group by staging_id, stage_id
),

parameters as (
    select
        f.staging_id,
        sum(f.df) as df
    from florets as f
    inner join cegdb.staging as g on f.staging_id = g.staging_id
    where f.n > 0 and (coalesce(f.weight > 0, true) or (g.settings ->> 'weighting') = 'none')
    group by f.staging_id
),

sized as (
    select
        g.*,
        coalesce(h.n_hyperstages, 0) as found_hyperstages,
        coalesce(s.n_stages, 0) as found_stages,
        coalesce(p.df, 0) as found_df
    from cegdb.staging as g
    left join hyperstages as h on g.staging_id = h.staging_id
    left join stages as s on g.staging_id = s.staging_id
    left join parameters as p on g.staging_id = p.staging_id
)

select
    'the catalog has the size of a staging' as invariant,
    'staging' as kind,
    name,
    cast(null as bigint) as row_id,
    concat(
        'hyperstages, stages, free parameters: the catalog says ',
        concat_ws(', ', n_hyperstages, n_stages, df), '; the tables have ',
        concat_ws(', ', found_hyperstages, found_stages, found_df)
    ) as detail
from sized
where
    n_hyperstages <> found_hyperstages
    or n_stages <> found_stages
    or df <> found_df
order by invariant, name, row_id, detail
