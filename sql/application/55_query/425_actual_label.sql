-- step:    actual_label
-- mode:    create
-- purpose: The label that each code of the variable to be predicted stands for; 'not
--          applicable' for codes that mean it does not occur. A blank that is read as missing
--          means that too where nothing is missing: absent_index is that label.
-- reads:   query_edge, edge_answer, code_meaning, query_label
-- writes:  actual_label(code, label_index, absent_index)
-- params:  rank INTEGER, of the variable
--          structural INTEGER, the code of a structural level
--          blanks INTEGER[], the codes of blanks
--          absent VARCHAR, the label of paths without the variable
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves predictions for each row of a file (predict, classify, calibration)
with taken as (
    select
        e.code,
        min(w.label_index) as label_index
    from temp.query_edge as e
    inner join temp.edge_answer as w on e.edge = w.edge
    where w.rank = $rank and e.code > 0
    group by e.code
)

select
    m.code,
    coalesce(t.label_index, q.label_index) as label_index,
    if(list_contains(cast($blanks as integer[]), m.code), q.label_index, null) as absent_index
from temp.code_meaning as m
left join taken as t on m.answer = t.code
left join temp.query_label as q
    on
        m.rank = q.rank
        and q.label = $absent
        and (
            m.answer = $structural
            or (m.answer > 0 and list_contains(cast($blanks as integer[]), m.code))
        )
where m.rank = $rank and coalesce(t.label_index, q.label_index) is not null
