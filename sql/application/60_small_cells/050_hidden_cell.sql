-- step:    hidden_cell
-- mode:    create
-- purpose: The counts to hide: those of all cells with a hidden flow.
-- reads:   hidden_number
-- writes:  hidden_cell(kind, owner_id, label_id)
-- params:  cells VARCHAR, the table of cells, such as temp.vertex_cell
-- source:  serves output with small counts hidden (min_n)
select distinct
    c.kind,
    c.owner_id,
    c.label_id
from query_table($cells) as c
where c.cell in (select h.cell from temp.hidden_number as h)
