create table cegdb.ahc_merge (
    staging_id integer not null,
    step integer not null,
    kept_id bigint not null,
    absorbed_id bigint not null,
    log_bayes_factor double not null
);

comment on table cegdb.ahc_merge is 'One row per merge of two stages by agglomerative clustering, in the order made.';
comment on column cegdb.ahc_merge.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.ahc_merge.step is 'Number of the merge, from 1 on.';
comment on column cegdb.ahc_merge.kept_id is 'stage_id of the stage that was kept.';
comment on column cegdb.ahc_merge.absorbed_id is 'stage_id of the stage that was merged into it.';
comment on column cegdb.ahc_merge.log_bayes_factor is 'What the score gains by the merge: log Bayes factor in favour of one stage (for AIC and BIC, half of their decrease).';
