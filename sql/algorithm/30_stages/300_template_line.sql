-- step:    template_line
-- mode:    fetch
-- purpose: The rows of a template, one per situation: its path, the labels and counts of its
--          floret in level order, and its stage in a staging, by its given name if it has one.
-- reads:   situation_path, situation_edge, floret, variable, vertex, stage, stage_member
-- writes:  template_line(vertex_id, variable, path, labels, counts, n, stage)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, the staging; null for none
-- source:  serves templates (files in which an expert fills in the stages)
with listed as (
    select
        vertex_id,
        list_sort(list(struct_pack(child_id := child_id, label := label, n := n))) as edges
    from temp.situation_edge
    group by vertex_id
),

shown as (
    select
        stage_id,
        coalesce(name, 'u' || (row_number() over (order by stage_id) - 1)) as stage
    from cegdb.stage
    where staging_id = $staging_id
),

staged as (
    select
        m.vertex_id,
        s.stage
    from cegdb.stage_member as m
    inner join shown as s on m.stage_id = s.stage_id
    where m.staging_id = $staging_id
)

select
    p.vertex_id,
    q.name as variable,
    p.labels as path,
    [e.label for e in l.edges] as labels,
    [e.n for e in l.edges] as counts,
    v.n,
    s.stage
from temp.situation_path as p
inner join temp.floret as f on p.vertex_id = f.vertex_id
inner join cegdb.variable as q on f.variable_id = q.variable_id
inner join cegdb.vertex as v on v.tree_id = $tree_id and p.vertex_id = v.vertex_id
inner join listed as l on p.vertex_id = l.vertex_id
left join staged as s on p.vertex_id = s.vertex_id
order by p.vertex_id
