-- step:    path_entry
-- mode:    append temp.given_entry
-- purpose: The priors that the user gave by path, one row per label of a situation.
-- reads:   nothing
-- writes:  given_entry(vertex_id, label, prior)
-- params:  vertex_ids BIGINT[], the situations
--          labels VARCHAR[], their labels
--          priors DOUBLE[], the Dirichlet parameters
-- source:  docs/theory.md, section 6 (Scores and clustering);
--          serves priors given by the user (prior=)
select
    unnest(cast($vertex_ids as bigint[])) as vertex_id,
    unnest(cast($labels as varchar[])) as label,
    unnest(cast($priors as double[])) as prior
