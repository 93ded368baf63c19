create table cegdb.position (
    ceg_id integer not null,
    position_id bigint not null,
    stage_id bigint,
    height integer not null,
    n bigint not null check (n >= 0),
    n_situations bigint not null check (n_situations >= 0)
);

comment on table cegdb.position is 'One row per vertex of a CEG: each position, and the sink.';
comment on column cegdb.position.ceg_id is 'The CEG; joins to ceg.';
comment on column cegdb.position.position_id is 'The position: the smallest vertex_id in it. For the sink, the smallest leaf.';
comment on column cegdb.position.stage_id is 'The stage of the position; null for the sink.';
comment on column cegdb.position.height is 'Number of edges on the longest path to the sink; 0 for the sink.';
comment on column cegdb.position.n is 'Number of respondents who reached the position.';
comment on column cegdb.position.n_situations is 'Number of tree vertices merged in it: situations, or leaves in the sink.';
