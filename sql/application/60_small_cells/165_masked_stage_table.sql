-- step:    masked_stage_table
-- mode:    create
-- purpose: The view stage_table for one staging, with only what can be computed from the counts
--          shown for its tree: the count of a stage is removed if that of one of its situations
--          is hidden, that of a label if one of its edges is; probabilities are those of
--          masked_staged_edges. So it reveals nothing that the staged tree, published with the
--          same min_n, does not.
-- reads:   stage_table, staging, stage_member, edge, level, relabelled_edge, hidden_cell
-- writes:  masked_stage_table(staging, stage, name, variable, situations, n_situations,
--          n_stage, label, n, weight, prior, share, probability, low, high, kind, colour,
--          stage_id, label_id)
-- params:  object_name VARCHAR, the staging's
-- source:  serves output with small counts hidden (min_n)
with member as (
    select
        g.staging_id,
        g.tree_id,
        m.stage_id,
        m.vertex_id
    from cegdb.staging as g
    inner join cegdb.stage_member as m on g.staging_id = m.staging_id
    where g.name = $object_name
),

hidden_stage as (
    select
        m.stage_id,
        bool_or(h.kind = 'vertex') as is_hidden
    from member as m
    inner join temp.hidden_cell as h on m.vertex_id = h.owner_id
    group by m.stage_id
),

hidden_label as (
    select distinct
        m.stage_id,
        coalesce(r.label_id, l.label_id) as label_id
    from member as m
    inner join cegdb.edge as e on m.tree_id = e.tree_id and m.vertex_id = e.parent_id
    inner join cegdb.level as l on e.level_id = l.level_id
    inner join temp.hidden_cell as h on h.kind = 'vertex' and e.child_id = h.owner_id
    left join cegdb.relabelled_edge as r
        on m.staging_id = r.staging_id and e.child_id = r.child_id
),

judged as (
    select
        t.*,
        coalesce(s.is_hidden, false) as is_stage_hidden,
        x.stage_id is not null as is_hidden,
        (x.stage_id is not null or s.stage_id is not null) and t.probability < 1 as is_spoilt
    from cegdb.stage_table as t
    left join hidden_stage as s on t.stage_id = s.stage_id
    left join hidden_label as x on t.stage_id = x.stage_id and t.label_id = x.label_id
    where t.staging = $object_name
)

select
    j.staging,
    j.stage,
    j.name,
    j.variable,
    j.situations,
    j.n_situations,
    if(j.is_stage_hidden, null, j.n_stage) as n_stage,
    j.label,
    if(j.is_hidden, null, j.n) as n,
    if(j.is_hidden, null, j.weight) as weight,
    j.prior,
    if(j.is_spoilt, null, j.share) as share,
    if(j.is_spoilt, null, j.probability) as probability,
    if(j.is_spoilt, null, j.low) as low,
    if(j.is_spoilt, null, j.high) as high,
    j.kind,
    j.colour,
    j.stage_id,
    j.label_id
from judged as j
