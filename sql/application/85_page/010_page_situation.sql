-- step:    page_situation
-- mode:    create
-- purpose: The situations of a CEG's tree that a page shows: the top of the tree, starting with
--          those that most people reach, while the number of edges permits. The root is always
--          shown.
-- reads:   position_member, vertex, edge
-- writes:  page_situation(vertex_id, position_id)
-- params:  ceg_id INTEGER, the CEG
--          tree_id INTEGER, its tree
--          most_edges INTEGER, the most edges to show
--          by_people BOOLEAN, false if counts are hidden; then the first ones are shown
-- source:  serves the page of a CEG (cegdb report page)
with sized as (
    select
        m.vertex_id,
        m.position_id,
        if($by_people, v.n, 0) as people,
        (
            select count(*)
            from cegdb.edge as e
            where e.tree_id = $tree_id and e.parent_id = m.vertex_id
        ) as n_edges
    from cegdb.position_member as m
    inner join cegdb.vertex as v on v.tree_id = $tree_id and m.vertex_id = v.vertex_id
    where m.ceg_id = $ceg_id and v.variable_id is not null
),

summed as (
    select
        s.vertex_id,
        s.position_id,
        sum(s.n_edges) over (
            order by s.people desc, s.vertex_id asc
            rows between unbounded preceding and current row
        ) as so_far
    from sized as s
)

select
    s.vertex_id,
    s.position_id
from summed as s
where s.so_far <= $most_edges or s.vertex_id = 0
