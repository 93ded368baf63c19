-- step:    query_edge
-- mode:    create
-- purpose: The edges of a CEG given evidence by the code of the answer that takes them (-1: not
--          known), sorted by source and code for the look-up; impossible edges are left out.
-- reads:   edge_code
-- writes:  query_edge(source, code, edge, target, target_height, target_rank,
--          log_probability)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
select
    cast(source as integer) as source,
    cast(code as integer) as code,
    cast(edge as integer) as edge,
    cast(target as integer) as target,
    cast(target_height as integer) as target_height,
    cast(target_rank as integer) as target_rank,
    log_probability
from temp.edge_code
where isfinite(log_probability)
order by source, code
