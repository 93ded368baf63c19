-- step:    check_reduced
-- mode:    fetch
-- purpose: Positions with the same stage and floret, which should be one position. Such a graph
--          has the coloured words of the staged tree, but is not its CEG.
-- reads:   ceg, position, ceg_edge
-- writes:  check_reduced(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Invariants, no. 3;
--          docs/theory.md, section 3 (Recovering the staged tree), reduced graphs
with florets as (
    select
        p.ceg_id,
        p.position_id,
        p.stage_id,
        list_sort(
            list(struct_pack(label_id := e.label_id, target_id := e.target_id))
        ) as floret
    from cegdb.position as p
    inner join cegdb.ceg_edge as e on p.ceg_id = e.ceg_id and p.position_id = e.source_id
    group by p.ceg_id, p.position_id, p.stage_id
),

repeated as (
    select
        ceg_id,
        stage_id,
        min(position_id) as first_id,
        max(position_id) as last_id,
        count(*) as n_positions
    from florets
    group by ceg_id, stage_id, floret
    having count(*) > 1
)

select
    'no two positions have one stage and floret' as invariant,
    'ceg' as kind,
    c.name,
    r.first_id as row_id,
    concat(
        r.n_positions, ' positions of stage ', r.stage_id, ', the first ', r.first_id,
        ', the last ', r.last_id, ', have the same labels and targets'
    ) as detail
from repeated as r
inner join cegdb.ceg as c on r.ceg_id = c.ceg_id
order by invariant, name, row_id, detail
