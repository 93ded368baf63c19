-- step:    cluster_count
-- mode:    fetch
-- purpose: How many clusters a sample has, and how many respondents are in none.
-- reads:   clustered_line
-- writes:  cluster_count(n_clusters, n_blank)
-- params:  none
-- source:  serves ingest: scores are divided by the design effect of a variable.
select
    count(distinct cluster) as n_clusters,
    coalesce(sum(n) filter (where cluster is null), 0) as n_blank
from temp.clustered_line
