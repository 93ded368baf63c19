create table cegdb.parent_set (
    staging_id integer not null,
    hyperstage_id bigint not null,
    set_rank integer not null check (set_rank >= 1),
    variable_ids integer[] not null,
    n_configurations bigint not null check (n_configurations >= 1),
    score double not null,
    difference double not null check (difference <= 1e-6)
);

comment on table cegdb.parent_set is 'One row per hyperstage learnt with max_parents and each of its best sets of parents: the earlier variables on which its stages may depend.';
comment on column cegdb.parent_set.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.parent_set.hyperstage_id is 'The hyperstage: the smallest vertex_id in it.';
comment on column cegdb.parent_set.set_rank is 'Rank by score: 1 is the set that was chosen, 2 its runner-up, ...';
comment on column cegdb.parent_set.variable_ids is 'The variables of the set, in the order of the tree; empty if nothing matters.';
comment on column cegdb.parent_set.n_configurations is 'Number of combinations of answers to them that a respondent has.';
comment on column cegdb.parent_set.score is 'Score of the set, more being better: that of learning with one stage for each combination (AIC and BIC times -1/2).';
comment on column cegdb.parent_set.difference is 'Score minus that of the chosen set: 0 or below.';
