-- step:    former_parent_set
-- mode:    create
-- purpose: The best sets of parents of the hyperstages of a staging to rebuild, by the names of
--          their variables.
-- reads:   parent_sets
-- writes:  former_parent_set(hyperstage_id, set_rank, parents, n_configurations, score, difference)
-- params:  staging VARCHAR, its name
-- source:  serves making stale objects again after new rows (cegdb rebuild)
select
    hyperstage_id,
    set_rank,
    parents,
    n_configurations,
    score,
    difference
from cegdb.parent_sets
where staging = $staging
