-- A CEG conditioned on evidence has stages of its own (ceg_stage).
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

comment on view cegdb.positions is 'One row per vertex of a CEG: positions w0, w1, ... and the sink w_inf.';
comment on column cegdb.positions.ceg is 'Name of the CEG.';
comment on column cegdb.positions.position is 'Name of the vertex: w0 (the root), w1, ... in the order of position_id; w_inf is the sink.';
comment on column cegdb.positions.stage is 'Name of the stage of the position, u0, u1, ...; null for the sink.';
comment on column cegdb.positions.variable is 'The variable of the position; null for the sink, or if it has several.';
comment on column cegdb.positions.height is 'Number of edges on the longest path to the sink; 0 for the sink.';
comment on column cegdb.positions.n is 'Number of respondents who reached the position.';
comment on column cegdb.positions.n_situations is 'Number of tree vertices merged in it: situations, or leaves in the sink.';
comment on column cegdb.positions.colour is 'Colour of the stage in pictures, as #rrggbb; null for the sink.';
comment on column cegdb.positions.position_id is 'The position: the smallest vertex_id in it. For the sink, the smallest leaf.';
comment on column cegdb.positions.stage_id is 'The stage of the position; null for the sink.';
