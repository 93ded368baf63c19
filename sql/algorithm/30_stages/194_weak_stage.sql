-- step:    weak_stage
-- mode:    fetch
-- purpose: Stages in which few respondents answered, or whose prior counts more than their rows,
--          those of fewest respondents first; and how many stages have answers.
-- reads:   stage, hyperstage, variable, stage_estimate
-- writes:  weak_stage(stage, variable, n, prior, is_thin, is_driven, n_stages)
-- params:  staging_id INTEGER, the staging
--          few INTEGER, fewer respondents are few
-- source:  serves the findings of a staging
with estimate as (
    select
        stage_id,
        cast(sum(n) as bigint) as n,
        sum(prior) as prior,
        sum(size) as size,
        count(*) as n_labels
    from temp.stage_estimate
    group by stage_id
),

stage as (
    select
        'u' || (row_number() over (order by s.stage_id) - 1) as stage,
        s.kind,
        coalesce(q.name, 'several variables') as variable,
        e.*
    from cegdb.stage as s
    inner join cegdb.hyperstage as h
        on s.staging_id = h.staging_id and s.hyperstage_id = h.hyperstage_id
    left join cegdb.variable as q on h.variable_id = q.variable_id
    inner join estimate as e on s.stage_id = e.stage_id
    where s.staging_id = $staging_id
),

answered as (
    select
        s.*,
        s.n < $few as is_thin,
        if(s.n_labels > 1, s.prior > s.size, false) as is_driven,
        count(*) over () as n_stages
    from stage as s
    where s.kind <> 'unobserved'
)

select
    stage,
    variable,
    n,
    prior,
    is_thin,
    is_driven,
    n_stages
from answered
where is_thin or is_driven
order by n, stage_id
