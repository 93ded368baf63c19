-- step:    edge_size
-- mode:    create
-- purpose: The effective count of each edge of a weighted tree or a clustered sample, in
--          respondents of equal weight: w W / Q, where w is the weight of the edge, and W and Q
--          are the sums of the weights and of the squared weights at its situation (Kish); or w
--          times one factor. It is divided by the design effect of the variable.
-- reads:   situation_edge, vertex_weight
-- writes:  edge_size(child_id, size)
-- params:  tree_id INTEGER, the tree
--          is_weighted BOOLEAN, whether weights count; otherwise rows do
--          factor DOUBLE, respondents per unit of weight; null to scale each situation itself
--          variable_ids INTEGER[], variables with a design effect
--          effects DOUBLE[], these effects; 1 for others
-- source:  Kish (1965), Survey Sampling; docs/theory.md, section 1 (Event trees from data)
with weighed as (
    select
        e.child_id,
        e.n,
        cast(e.weight as double) as weight,
        cast(sum(e.weight) over (partition by e.vertex_id) as double) as total,
        cast(sum(q.weight_sq) over (partition by e.vertex_id) as double) as squares,
        coalesce(
            cast($effects as double[])[
                list_position(cast($variable_ids as integer[]), e.variable_id)
            ],
            1
        ) as effect
    from temp.situation_edge as e
    left join cegdb.vertex_weight as q on q.tree_id = $tree_id and e.child_id = q.vertex_id
)

select
    child_id,
    cast(
        case
            when not $is_weighted then n
            when $factor is not null then weight * $factor
            when squares > 0 then total * weight / squares
            else 0
        end / effect as decimal(38, 12)
    ) as size
from weighed
