-- step:    unfit_path
-- mode:    fetch
-- purpose: The user's paths that match no situation of the tree.
-- reads:   given_path, path_situation
-- writes:  unfit_path(path_id)
-- params:  none
-- source:  serves stages, priors and hyperstages that a user gives by path
select g.path_id
from temp.given_path as g
where g.path_id not in (select p.path_id from temp.path_situation as p)
order by g.path_id
