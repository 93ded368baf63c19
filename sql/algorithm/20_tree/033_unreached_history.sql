-- step:    unreached_history
-- mode:    create
-- purpose: The histories before one variable that no row has: edges without rows lead there.
--          is_closed says that the question does not apply there: among the answers of the
--          history are one or two after which it was asked of nobody, though rows have them.
-- reads:   path_row, path_prefix, stopped_prefix
-- writes:  unreached_history(prefix, is_closed)
-- params:  divisor BIGINT, what the variable's digit of a path code is multiplied by
--          radix INTEGER, number of its digits
--          previous_radix INTEGER, of the variable before it; 1 if the code starts here
--          structural_code INTEGER, the digit of a cell that does not apply
--          chunk INTEGER, the group of variables that the code spans, from 0
--          sizes BIGINT[], number of codes that the digits of each group make
--          chunks INTEGER[], the groups of the variables before it
--          divisors BIGINT[], what their digits are multiplied by
--          radices INTEGER[], numbers of their digits
-- source:  docs/theory.md, section 14 (Structural and sampling zeros)
with recursive history as (
    select
        code // ($divisor * $radix) as prefix,
        sum(n) as n,
        bool_or(n > 0 and (code // $divisor) % $radix < $structural_code) as is_asked
    from temp.path_row
    where
        code >= 0
        and is_included
        and ($previous_radix = 1 or (code // ($divisor * $radix)) % $previous_radix > 0)
    group by prefix
    having sum(n) > 0 or max((code // $divisor) % $radix) = 0
),

going_on as (
    select *
    from history
    where
        $previous_radix > 1
        or prefix not in (select s.prefix_id from temp.stopped_prefix as s)
),

part as (
    select
        prefix,
        cast($chunk as integer) as chunk,
        prefix * $divisor * $radix as code
    from going_on
    union all
    select
        p.prefix,
        p.chunk - 1 as chunk,
        h.code
    from part as p
    inner join temp.path_prefix as h
        on
            p.chunk - 1 = h.chunk
            and p.code // cast($sizes as bigint[])[p.chunk + 1] = h.prefix_id
),

place as (
    select
        unnest(cast($chunks as integer[])) as chunk,
        unnest(cast($divisors as bigint[])) as divisor,
        unnest(cast($radices as integer[])) as radix
),

numbered_place as (
    select
        *,
        row_number() over (order by chunk asc, divisor desc) as place
    from place
),

answer as (
    select
        h.prefix,
        h.n,
        h.is_asked,
        q.place,
        (p.code // q.divisor) % q.radix as digit
    from going_on as h
    inner join part as p on h.prefix = p.prefix
    inner join numbered_place as q on p.chunk = q.chunk
),

closing as (
    select
        a.place,
        a.digit,
        b.place as other_place,
        b.digit as other_digit
    from answer as a
    inner join answer as b on a.prefix = b.prefix and a.place <= b.place
    where a.n > 0
    group by a.place, a.digit, b.place, b.digit
    having not bool_or(a.is_asked)
),

closed as (
    select distinct a.prefix
    from answer as a
    inner join answer as b on a.prefix = b.prefix and a.place <= b.place
    inner join closing as c
        on
            a.place = c.place
            and a.digit = c.digit
            and b.place = c.other_place
            and b.digit = c.other_digit
    where a.n = 0
)

select
    h.prefix,
    c.prefix is not null as is_closed
from going_on as h
left join closed as c on h.prefix = c.prefix
where h.n = 0
