-- step:    label_score
-- mode:    create
-- purpose: The score of each label of the situations whose stage is learnt: that of the answers
--          of their variable. Null where a label has none, as a missing answer, or where the
--          variables of a hyperstage give it different scores.
-- reads:   learnable, learnable_answer, vertex, level, level_score
-- writes:  label_score(hyperstage_id, label_id, score)
-- params:  tree_id INTEGER, the tree
-- source:  docs/theory.md, section 24 (Ordered answers)
with asked as (
    select distinct
        s.hyperstage_id,
        v.variable_id
    from temp.learnable as s
    inner join cegdb.vertex as v on v.tree_id = $tree_id and s.vertex_id = v.vertex_id
),

labels as (
    select distinct
        hyperstage_id,
        label_id
    from temp.learnable_answer
)

select
    x.hyperstage_id,
    x.label_id,
    if(
        count(y.score) = count(*) and min(y.score) = max(y.score), min(y.score), null
    ) as score
from labels as x
inner join asked as q on x.hyperstage_id = q.hyperstage_id
left join cegdb.level as l
    on q.variable_id = l.variable_id and x.label_id = l.label_id and l.kind = 'value'
left join cegdb.level_score as y on l.level_id = y.level_id
group by x.hyperstage_id, x.label_id
