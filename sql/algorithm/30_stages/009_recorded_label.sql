-- step:    recorded_label
-- mode:    append temp.given_label
-- purpose: The edges that a staging relabelled, with their new labels.
-- reads:   relabelled_edge
-- writes:  given_label(child_id, label_id, label)
-- params:  staging_id INTEGER, the staging
-- source:  docs/theory.md, section 5 (Equivalent labels);
--          serves what is computed for a staging again: intervals and the bootstrap
select
    child_id,
    label_id,
    label
from cegdb.relabelled_edge
where staging_id = $staging_id
