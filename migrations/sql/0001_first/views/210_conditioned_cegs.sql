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

comment on view cegdb.conditioned_cegs is 'One row per CEG conditioned on evidence.';
comment on column cegdb.conditioned_cegs.ceg is 'Name of the CEG.';
comment on column cegdb.conditioned_cegs.parent is 'Name of the CEG it was conditioned from.';
comment on column cegdb.conditioned_cegs.evidence is 'The evidence in words.';
comment on column cegdb.conditioned_cegs.probability is 'Probability of the evidence in the parent, from 0 to 1 (of soft evidence: its expected likelihood).';
comment on column cegdb.conditioned_cegs.evidence_json is 'The evidence, as JSON.';
comment on column cegdb.conditioned_cegs.ceg_id is 'The CEG; joins to ceg.';
comment on column cegdb.conditioned_cegs.parent_ceg_id is 'The CEG it was conditioned from; joins to ceg.';
