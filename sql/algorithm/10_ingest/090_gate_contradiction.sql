-- step:    gate_contradiction
-- mode:    fetch
-- purpose: The answers that contradict a gate, by kind: answered although the question did not
--          apply, not answered although it did, or declared not applicable although it applied.
--          Each kind has its number of respondents and its most frequent examples.
-- reads:   gated_answer
-- writes:  gate_contradiction(kind, n_of_kind, codes, code, n)
-- params:  n_values INTEGER, codes 1 .. n_values of the gated variable are answers
--          blank_code INTEGER, its code of a blank cell
--          structural_code INTEGER, its code of a cell that does not apply
--          most INTEGER, how many examples of each kind
-- source:  docs/architecture.md, section Cells
with contradiction as (
    select
        codes,
        code,
        n,
        case
            when not is_open and code <= $n_values then 'answered'
            when is_open and code = $blank_code then 'unanswered'
            when is_open and code = $structural_code then 'not applicable'
        end as kind
    from temp.gated_answer
)

select
    kind,
    sum(n) over (partition by kind) as n_of_kind,
    codes,
    code,
    n
from contradiction
where kind is not null
qualify row_number() over (partition by kind order by n desc, codes asc, code asc) <= $most
order by kind asc, n desc, codes asc, code asc
