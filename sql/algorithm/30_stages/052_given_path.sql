-- step:    given_path
-- mode:    create
-- purpose: The paths that the user wrote, with the name of the group of each.
-- reads:   nothing
-- writes:  given_path(path_id, name, labels, is_any)
-- params:  names VARCHAR[], the groups
--          paths VARCHAR[][], labels from the root
--          wildcards BOOLEAN[][], which of the labels are '*' and match any
-- source:  serves stages, priors and hyperstages that a user gives by path
select
    unnest(range(len($names))) as path_id,
    unnest(cast($names as varchar[])) as name,
    unnest(cast($paths as varchar[][])) as labels,
    unnest(cast($wildcards as boolean[][])) as is_any
