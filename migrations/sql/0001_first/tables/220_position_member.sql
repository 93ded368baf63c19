create table cegdb.position_member (
    ceg_id integer not null,
    vertex_id bigint not null,
    position_id bigint not null
);

comment on table cegdb.position_member is 'One row per vertex of the tree that a CEG shows, with its position.';
comment on column cegdb.position_member.ceg_id is 'The CEG; joins to ceg.';
comment on column cegdb.position_member.vertex_id is 'The vertex. Vertices of a tree are numbered from 0, the root, level by level.';
comment on column cegdb.position_member.position_id is 'The position: the smallest vertex_id in it.';
