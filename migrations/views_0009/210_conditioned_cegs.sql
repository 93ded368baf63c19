-- One row a CEG given evidence: the CEG it was conditioned from, the evidence in words, its
-- probability in that CEG (of soft evidence, its expected likelihood), and it as JSON.
create view cegdb.conditioned_cegs as
select
    c.name as ceg,
    p.name as parent,
    c.summary ->> '$.evidence' as evidence,
    c.probability,
    c.evidence as evidence_json,
    c.ceg_id,
    c.parent_ceg_id
from cegdb.ceg as c
inner join cegdb.ceg as p on c.parent_ceg_id = p.ceg_id;
