-- step:    reversal
-- mode:    fetch
-- purpose: Comparisons whose direction turns within groups, surest first. The difference of all
--          and that within groups have opposite signs, and both are too large for chance; no
--          group has a clear difference in the direction of all. Each z is the root of the
--          statistic of Cochran, Mantel and Haenszel, with one stratum or with the groups.
-- reads:   compared_share, level, variable
-- writes:  reversal(outcome, answer, variable, first, second, by, n, share_first, share_second,
--          groups)
-- params:  least DOUBLE, both z are at least this
--          clear DOUBLE, no group has a z of this in the direction of all
-- source:  docs/theory.md, section 25 (Associations that turn)
with grouped as (
    select
        *,
        cast(n_first + n_second as double) as n,
        cast(k_first + k_second as double) as k,
        k_first - n_first * (k_first + k_second) / (n_first + n_second) as excess
    from temp.compared_share
),

measured as (
    select
        *,
        if(n > 1, n_first * n_second * k * (n - k) / (n * n * (n - 1)), 0) as variance
    from grouped
),

compared as (
    select
        answer_id,
        first_id,
        second_id,
        by_id,
        sum(n_first) as n_first,
        sum(n_second) as n_second,
        sum(k_first) as k_first,
        sum(k_second) as k_second,
        sum(n) as n,
        sum(k) as k,
        sum(excess) / nullif(sqrt(sum(variance)), 0) as z_within,
        min(excess / nullif(sqrt(variance), 0)) as z_least,
        max(excess / nullif(sqrt(variance), 0)) as z_most,
        list(
            struct_pack(
                group_id := group_id,
                first := k_first / n_first,
                second := k_second / n_second,
                n := n
            )
            order by n desc, group_id asc
        ) as inside
    from measured
    group by answer_id, first_id, second_id, by_id
    having count(*) > 1
),

directed as (
    select
        *,
        (k_first - n_first * k / n)
        / nullif(sqrt(n_first * n_second * k * (n - k) / (n * n * (n - 1))), 0) as z_all
    from compared
),

turned as (
    select *
    from directed
    where
        (z_all >= $least and z_within <= -$least and coalesce(z_most, 0) < $clear)
        or (z_all <= -$least and z_within >= $least and coalesce(z_least, 0) > -$clear)
)

select
    o.name as outcome,
    a.label as answer,
    q.name as variable,
    f.label as first,
    s.label as second,
    b.name as by,
    cast(t.n as bigint) as n,
    t.k_first / t.n_first as share_first,
    t.k_second / t.n_second as share_second,
    list_transform(
        t.inside,
        lambda g: struct_pack(label := m.labels[g.group_id], first := g.first, second := g.second)
    ) as groups
from turned as t
inner join cegdb.level as a on t.answer_id = a.level_id
inner join cegdb.variable as o on a.variable_id = o.variable_id
inner join cegdb.level as f on t.first_id = f.level_id
inner join cegdb.level as s on t.second_id = s.level_id
inner join cegdb.variable as q on f.variable_id = q.variable_id
inner join cegdb.variable as b on t.by_id = b.variable_id
cross join (
    select map(list(level_id), list(label)) as labels
    from cegdb.level
    where variable_id in (select c.by_id from temp.compared_share as c)
) as m
order by
    least(abs(t.z_all), abs(t.z_within)) desc,
    t.answer_id asc,
    t.first_id asc,
    t.second_id asc,
    t.by_id asc
