-- step:    thin_situation
-- mode:    fetch
-- purpose: How many situations few respondents reached, how many any did, and how many
--          respondents the former have.
-- reads:   vertex
-- writes:  thin_situation(n_thin, n_reached, n_rows)
-- params:  tree_id INTEGER, the tree
--          few INTEGER, fewer respondents are few
-- source:  serves the findings of a tree
select
    count(*) filter (where n < $few) as n_thin,
    count(*) as n_reached,
    cast(coalesce(sum(n) filter (where n < $few), 0) as bigint) as n_rows
from cegdb.vertex
where tree_id = $tree_id and variable_id is not null and n > 0
