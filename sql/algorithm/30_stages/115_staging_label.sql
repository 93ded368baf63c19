-- step:    staging_label
-- mode:    append cegdb.relabelled_edge
-- purpose: The edges of the tree that have another label in the staging.
-- reads:   given_label
-- writes:  relabelled_edge(staging_id, child_id, label_id, label)
-- params:  staging_id INTEGER, the staging
-- source:  docs/theory.md, section 5 (Equivalent labels); docs/architecture.md, section Tables
select
    $staging_id as staging_id,
    child_id,
    label_id,
    label
from temp.given_label
order by child_id
