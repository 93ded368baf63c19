alter table cegdb.ceg add column relative_likelihood double;

update cegdb.ceg
set relative_likelihood = probability, probability = null
where list_contains(json_extract_string(evidence, '$..kind'), 'likelihood');

comment on column cegdb.ceg.probability is 'For a CEG conditioned on evidence: probability of the evidence in the parent, from 0 to 1; null for soft evidence.';
comment on column cegdb.ceg.relative_likelihood is 'For a CEG conditioned on soft evidence: mean of its likelihoods over the paths of the parent, in their unit, which may be above 1.';
