create table cegdb.ceg_edge (
    ceg_id integer not null,
    source_id bigint not null,
    target_id bigint not null,
    label_id integer not null,
    raw_labels varchar[] not null,
    n bigint not null check (n >= 0),
    weight decimal(38, 12),
    prior double not null,
    probability double not null
);

comment on table cegdb.ceg_edge is 'One row per edge of a CEG; parallel edges differ by label.';
comment on column cegdb.ceg_edge.ceg_id is 'The CEG; joins to ceg.';
comment on column cegdb.ceg_edge.source_id is 'position_id of the vertex where the edge starts.';
comment on column cegdb.ceg_edge.target_id is 'position_id of the vertex where the edge ends.';
comment on column cegdb.ceg_edge.label_id is 'The label; the same text has the same id in all variables of a survey. Joins to labels.';
comment on column cegdb.ceg_edge.raw_labels is 'The tree''s own labels of the edge; more than one if the staging relabels several answers alike.';
comment on column cegdb.ceg_edge.n is 'Number of respondents who took the edge from any situation of the source.';
comment on column cegdb.ceg_edge.weight is 'Sum of the weights of the respondents counted in n; null without weights.';
comment on column cegdb.ceg_edge.prior is 'Prior mass of the edge in the situations of the source; not used in a CEG conditioned on evidence.';
comment on column cegdb.ceg_edge.probability is 'Posterior mean of the answer''s probability at the source, given the evidence if there is any; from 0 to 1.';
