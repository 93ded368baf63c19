-- step:    position_floret
-- mode:    create
-- purpose: The size of the floret of each position, and whether it holds its whole stage.
--          Only where florets lack labels of their stage must edges be counted.
-- reads:   block, stage, label_digit, position_edge
-- writes:  position_floret(position_id, stage_id, height, n_situations, n_edges, is_whole)
-- params:  staging_id INTEGER, the staging
--          is_full BOOLEAN, whether no floret lacks a label of its stage
-- source:  SPEC 4
with counted as (
    select
        e.source_id,
        count(*) as n_edges
    from temp.position_edge as e
    where not $is_full
    group by e.source_id
),

stage_floret as (
    select
        d.stage_id,
        count(*) as n_edges
    from temp.label_digit as d
    group by d.stage_id
)

select
    b.position_id,
    b.stage_id,
    b.height,
    b.n_situations,
    coalesce(c.n_edges, f.n_edges) as n_edges,
    b.n_situations = s.n_situations as is_whole
from temp.block as b
inner join cegdb.stage as s on s.staging_id = $staging_id and b.stage_id = s.stage_id
inner join stage_floret as f on b.stage_id = f.stage_id
left join counted as c on b.position_id = c.source_id
