create table cegdb.presumed_zero (
    tree_id integer not null,
    vertex_id bigint not null,
    level_id integer not null,
    n bigint not null check (n >= 1),
    n_with bigint not null check (n_with >= 1),
    n_without bigint not null check (n_without >= 0),
    log_p0 double not null check (log_p0 < 0)
);

comment on table cegdb.presumed_zero is 'One row per situation of an event tree and answer presumed impossible there (sampling_zeros ''auto''): nobody gave it, and it is too common elsewhere for chance to explain that. It has no edge.';
comment on column cegdb.presumed_zero.tree_id is 'The event tree; joins to event_tree.';
comment on column cegdb.presumed_zero.vertex_id is 'The situation; joins to vertex.';
comment on column cegdb.presumed_zero.level_id is 'The answer that nobody gave; joins to level.';
comment on column cegdb.presumed_zero.n is 'Number of respondents who answered the question in this situation.';
comment on column cegdb.presumed_zero.n_with is 'Number of respondents who gave this answer in other situations.';
comment on column cegdb.presumed_zero.n_without is 'Number of respondents who gave other answers in other situations.';
comment on column cegdb.presumed_zero.log_p0 is 'Natural logarithm of the probability that none of n gives the answer, if they answer as in the other situations (docs/theory.md, section 14).';
