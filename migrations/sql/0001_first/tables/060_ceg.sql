create sequence cegdb.ceg_id_seq;

create table cegdb.ceg (
    ceg_id integer default nextval('cegdb.ceg_id_seq') primary key,
    name varchar not null unique,
    staging_id integer,
    parent_ceg_id integer,
    evidence json,
    n_vertices bigint not null check (n_vertices >= 0),
    n_edges bigint not null check (n_edges >= 0),
    settings json not null,
    summary json not null,
    seconds double not null,
    created_at timestamp not null,
    cegdb_version varchar not null,
    root_staging_id integer,
    probability double
);

comment on table cegdb.ceg is 'One row per Chain Event Graph, whole or conditioned on evidence.';
comment on column cegdb.ceg.ceg_id is 'Key of the CEG.';
comment on column cegdb.ceg.name is 'Name of the CEG, unique.';
comment on column cegdb.ceg.staging_id is 'The staged tree it was made from; joins to staging. Null for a CEG conditioned on evidence.';
comment on column cegdb.ceg.parent_ceg_id is 'For a CEG conditioned on evidence: the CEG it was conditioned from.';
comment on column cegdb.ceg.evidence is 'For a CEG conditioned on evidence: the evidence, as JSON.';
comment on column cegdb.ceg.n_vertices is 'Number of vertices, the sink included.';
comment on column cegdb.ceg.n_edges is 'Number of edges.';
comment on column cegdb.ceg.settings is 'The settings it was made with, as JSON.';
comment on column cegdb.ceg.summary is 'What its summary reports, as JSON: defaults chosen, counts, warnings.';
comment on column cegdb.ceg.seconds is 'Time it took to make, in seconds.';
comment on column cegdb.ceg.created_at is 'When it was made (UTC).';
comment on column cegdb.ceg.cegdb_version is 'The version of cegdb that made it.';
comment on column cegdb.ceg.root_staging_id is 'For a CEG conditioned on evidence: the staged tree of the CEG that the conditioning started from.';
comment on column cegdb.ceg.probability is 'For a CEG conditioned on evidence: probability of the evidence in the parent, from 0 to 1 (of soft evidence: its expected likelihood).';
