-- step:    position_variable
-- mode:    create
-- purpose: The variable of each position, read off its situations, where hyperstages join
--          several variables; null where the situations of a position have several too.
-- reads:   position_member, vertex, hyperstage
-- writes:  position_variable(position_id, variable_id)
-- params:  ceg_id INTEGER, the CEG
--          tree_id INTEGER, its tree
--          staging_id INTEGER, its stages
-- source:  docs/theory.md, section 8 (Probability propagation)
select
    m.position_id,
    if(min(v.variable_id) = max(v.variable_id), min(v.variable_id), null) as variable_id
from cegdb.position_member as m
inner join cegdb.vertex as v on v.tree_id = $tree_id and m.vertex_id = v.vertex_id
where
    m.ceg_id = $ceg_id
    and v.variable_id is not null
    and exists (
        select 1
        from cegdb.hyperstage as h
        where h.staging_id = $staging_id and h.variable_id is null
    )
group by m.position_id
