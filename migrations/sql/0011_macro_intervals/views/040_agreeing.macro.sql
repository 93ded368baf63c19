-- What agrees with the evidence of a CEG, from the tree that counted_edges gives, by the highest
-- vertices where it changes nothing any more. Without evidence that is the root.
create macro cegdb.agreeing(tree) as table
with recursive cegdb_way as (
    select
        t.vertex_id,
        cast(1 as double) as chance,
        coalesce(f.rate, 0) as rate,
        t.effect,
        t.is_decided,
        t.is_answered
    from query_table(tree) as t
    cross join (
        select max(1 / e.total) as rate
        from query_table(tree) as e
        where e.parent_id = 0 and e.total > 0
    ) as f
    where t.parent_id is null
    union all
    select
        t.vertex_id,
        w.chance * t.share * t.factor as chance,
        w.chance * t.factor * greatest(w.effect, t.effect) / t.total as rate,
        greatest(w.effect, t.effect) as effect,
        t.is_decided,
        t.is_answered
    from cegdb_way as w
    inner join query_table(tree) as t on w.vertex_id = t.parent_id
    where w.is_answered and not w.is_decided
),

cegdb_counted as (
    select cast(sum(t.n) as bigint) as n
    from query_table(tree) as t
    left join query_table(tree) as p on t.parent_id = p.vertex_id
    where t.is_certain and not coalesce(p.is_certain, false)
),

cegdb_mass as (
    select
        coalesce(fsum(chance) filter (where is_decided), 0) as chance,
        coalesce(max(rate) filter (where is_decided), 0) as rate,
        coalesce(fsum(chance) filter (where not is_decided), 0) as open
    from cegdb_way
    where is_decided or not is_answered
)

select
    m.chance,
    m.rate,
    m.open,
    c.n
from cegdb_mass as m
cross join cegdb_counted as c;

comment on macro table cegdb.agreeing is 'What agrees with the evidence of a CEG; the macros that give intervals read it. tree is the name of what cegdb.counted_edges gave. Columns: chance (probability by the rows), rate (largest probability over rows), open (probability where nobody answered), n (respondents).';
