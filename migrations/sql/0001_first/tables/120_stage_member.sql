create table cegdb.stage_member (
    staging_id integer not null,
    vertex_id bigint not null,
    stage_id bigint not null
);

comment on table cegdb.stage_member is 'One row per situation of a staged tree, with its stage.';
comment on column cegdb.stage_member.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.stage_member.vertex_id is 'The vertex. Vertices of a tree are numbered from 0, the root, level by level.';
comment on column cegdb.stage_member.stage_id is 'The stage: the smallest vertex_id in it.';
