-- step:    position_floret
-- mode:    create
-- purpose: The size of the floret of each position, and whether it holds its whole stage.
-- reads:   block, position_edge, plain_position
-- writes:  position_floret(position_id, stage_id, height, n_situations, n_edges, is_whole)
-- params:  none
-- source:  SPEC 4
select
    b.position_id,
    b.stage_id,
    b.height,
    b.n_situations,
    f.n_edges,
    o.whole_stage_id is not null as is_whole
from temp.block as b
inner join (
    select
        e.source_id,
        count(*) as n_edges
    from temp.position_edge as e
    group by e.source_id
) as f on b.position_id = f.source_id
left join temp.plain_position as o on b.position_id = o.position_id
