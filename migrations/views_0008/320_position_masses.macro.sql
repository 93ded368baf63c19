-- The probability that a person reaches each position of one CEG, by its id, and the variable
-- asked there (null in the sink, and where they are several): for the macros and views below.
-- Each step of the recursion takes all people one edge further, so paths are never listed.
create macro cegdb.position_masses(ceg_name) as table
with recursive edge as materialized (
    select
        source_id,
        target_id,
        variable,
        probability
    from cegdb.ceg_answers(ceg_name)
    where is_own
),

walk as (
    select
        max_by(p.position_id, p.height) as position_id,
        cast(1 as double) as probability
    from cegdb.ceg as c
    inner join cegdb.position as p on c.ceg_id = p.ceg_id
    where c.name = ceg_name
    union all
    select
        e.target_id as position_id,
        fsum(w.probability * e.probability) as probability
    from walk as w
    inner join edge as e on w.position_id = e.source_id
    group by e.target_id
),

asking as (
    select
        source_id,
        max(variable) as variable
    from edge
    group by source_id
)

select
    w.position_id,
    a.variable,
    fsum(w.probability) as probability
from walk as w
left join asking as a on w.position_id = a.source_id
group by w.position_id, a.variable;
