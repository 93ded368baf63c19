-- step:    situation_without_row
-- mode:    fetch
-- purpose: The first situation, by id, for which the tables of a network have no row.
-- reads:   network_prior, situations
-- writes:  situation_without_row(variable, path)
-- params:  tree VARCHAR, the name of the tree
-- source:  docs/theory.md, section 10 (Bayesian networks)
select
    s.variable,
    s.path
from cegdb.situations as s
where
    s.tree = $tree
    and s.vertex_id not in (select w.vertex_id from temp.network_prior as w)
    and (s.vertex_id = 0 or s.vertex_id in (select w.child_id from temp.network_prior as w))
order by s.vertex_id
limit 1
