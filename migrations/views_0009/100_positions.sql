-- One row a CEG vertex: positions w0, w1, ... in the order of their ids, and the sink w_inf.
-- n = rows that reach it, n_situations = tree vertices merged in it (leaves in the sink). A CEG
-- given evidence has stages of its own (ceg_stage).
create view cegdb.positions as
with coloured as (
    select
        c.ceg_id,
        c.name as ceg,
        s.stage_id,
        h.variable_id,
        s.colour
    from cegdb.ceg as c
    inner join cegdb.stage as s on c.staging_id = s.staging_id
    inner join cegdb.hyperstage as h
        on s.staging_id = h.staging_id and s.hyperstage_id = h.hyperstage_id
    union all
    select
        c.ceg_id,
        c.name as ceg,
        s.stage_id,
        s.variable_id,
        s.colour
    from cegdb.ceg as c
    inner join cegdb.ceg_stage as s on c.ceg_id = s.ceg_id
),

staged as (
    select
        s.ceg,
        'u' || (
            row_number() over (partition by s.ceg_id, s.ceg order by s.stage_id) - 1
        ) as stage,
        q.name as variable,
        s.colour,
        s.stage_id
    from coloured as s
    left join cegdb.variable as q on s.variable_id = q.variable_id
)

select
    c.name as ceg,
    if(
        p.stage_id is null,
        'w_inf',
        'w' || (
            row_number() over (
                partition by c.ceg_id, c.name
                order by p.stage_id is null, p.position_id
            ) - 1
        )
    ) as position,
    s.stage,
    s.variable,
    p.height,
    p.n,
    p.n_situations,
    s.colour,
    p.position_id,
    p.stage_id
from cegdb.position as p
inner join cegdb.ceg as c on p.ceg_id = c.ceg_id
left join staged as s on c.name = s.ceg and p.stage_id = s.stage_id;
