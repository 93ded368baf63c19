create sequence cegdb.tree_id_seq;

create table cegdb.event_tree (
    tree_id integer default nextval('cegdb.tree_id_seq') primary key,
    name varchar not null unique,
    survey_id integer not null,
    n bigint not null check (n >= 0),
    n_vertices bigint not null check (n_vertices >= 0),
    n_situations bigint not null check (n_situations >= 0),
    n_leaves bigint not null check (n_leaves >= 0),
    height bigint not null check (height >= 0),
    settings json not null,
    summary json not null,
    seconds double not null,
    created_at timestamp not null,
    cegdb_version varchar not null
);

comment on table cegdb.event_tree is 'One row per event tree, with its size.';
comment on column cegdb.event_tree.tree_id is 'Key of the event tree.';
comment on column cegdb.event_tree.name is 'Name of the event tree, unique.';
comment on column cegdb.event_tree.survey_id is 'The survey it was made from; joins to survey.';
comment on column cegdb.event_tree.n is 'Number of respondents in the tree.';
comment on column cegdb.event_tree.n_vertices is 'Number of vertices.';
comment on column cegdb.event_tree.n_situations is 'Number of situations.';
comment on column cegdb.event_tree.n_leaves is 'Number of leaves.';
comment on column cegdb.event_tree.height is 'Number of edges on the longest path from the root.';
comment on column cegdb.event_tree.settings is 'The settings it was made with, as JSON.';
comment on column cegdb.event_tree.summary is 'What its summary reports, as JSON: defaults chosen, counts, warnings.';
comment on column cegdb.event_tree.seconds is 'Time it took to make, in seconds.';
comment on column cegdb.event_tree.created_at is 'When it was made (UTC).';
comment on column cegdb.event_tree.cegdb_version is 'The version of cegdb that made it.';
