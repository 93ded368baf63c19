-- step:    check_ceg_size
-- mode:    fetch
-- purpose: CEGs whose sizes in the catalog differ from those of the tables.
-- reads:   ceg, position, ceg_edge
-- writes:  check_ceg_size(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 4 (Sizes of trees and graphs);
--          docs/architecture.md, section Tables
with vertices as (
    select
        ceg_id,
        count(*) as n_vertices
    from cegdb.position
    group by ceg_id
),

edges as (
    select
        ceg_id,
        count(*) as n_edges
    from cegdb.ceg_edge
    group by ceg_id
)

select
    'the catalog has the size of a CEG' as invariant,
    'ceg' as kind,
    c.name,
    cast(null as bigint) as row_id,
    concat(
        'the catalog says ', c.n_vertices, ' vertices and ', c.n_edges,
        ' edges; the tables have ', coalesce(v.n_vertices, 0), ' and ',
        coalesce(e.n_edges, 0)
    ) as detail
from cegdb.ceg as c
left join vertices as v on c.ceg_id = v.ceg_id
left join edges as e on c.ceg_id = e.ceg_id
where c.n_vertices <> coalesce(v.n_vertices, 0) or c.n_edges <> coalesce(e.n_edges, 0)
order by invariant, name, row_id, detail
