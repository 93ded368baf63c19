create table cegdb.ceg_stage (
    ceg_id integer not null,
    stage_id bigint not null,
    variable_id integer,
    n_situations bigint not null check (n_situations >= 0),
    n bigint not null check (n >= 0),
    colour varchar not null
);

comment on table cegdb.ceg_stage is 'One row per stage of a CEG conditioned on evidence, which has stages of its own.';
comment on column cegdb.ceg_stage.ceg_id is 'The CEG; joins to ceg.';
comment on column cegdb.ceg_stage.stage_id is 'The stage: the smallest vertex_id in it.';
comment on column cegdb.ceg_stage.variable_id is 'The variable of the stage; null if it has several.';
comment on column cegdb.ceg_stage.n_situations is 'Number of situations in the stage.';
comment on column cegdb.ceg_stage.n is 'Number of respondents who reached its situations, whatever the evidence.';
comment on column cegdb.ceg_stage.colour is 'Colour in pictures, as #rrggbb; white for a stage of one situation.';
