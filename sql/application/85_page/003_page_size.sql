-- step:    page_size
-- mode:    fetch
-- purpose: The size of a CEG without its sink and leaves, and the number of edges with a hidden
--          probability.
-- reads:   page_position, page_ceg_edge
-- writes:  page_size(n_positions, n_situations, n_edges, n_hidden)
-- params:  none
-- source:  serves the page of a CEG (cegdb report page)
select
    p.n_positions,
    p.n_situations,
    e.n_edges,
    e.n_hidden
from (
    select
        count(*) as n_positions,
        cast(coalesce(sum(n_situations), 0) as bigint) as n_situations
    from temp.page_position
    where stage_id is not null
) as p
cross join (
    select
        count(*) as n_edges,
        count(*) - count(probability) as n_hidden
    from temp.page_ceg_edge
) as e
