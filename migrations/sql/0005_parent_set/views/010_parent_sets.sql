create view cegdb.parent_sets as
with named as (
    select
        p.staging_id,
        p.hyperstage_id,
        p.set_rank,
        list_sort(list(struct_pack(i := p.i, name := v.name))) as variables
    from (
        select
            staging_id,
            hyperstage_id,
            set_rank,
            unnest(variable_ids) as variable_id,
            generate_subscripts(variable_ids, 1) as i
        from cegdb.parent_set
    ) as p
    inner join cegdb.variable as v on p.variable_id = v.variable_id
    group by p.staging_id, p.hyperstage_id, p.set_rank
)

select
    g.name as staging,
    v.name as variable,
    h.labels,
    p.set_rank,
    p.set_rank = 1 as is_chosen,
    coalesce([one.name for one in n.variables], []) as parents,
    p.n_configurations,
    h.n_situations,
    p.score,
    p.difference,
    p.hyperstage_id
from cegdb.parent_set as p
inner join cegdb.staging as g on p.staging_id = g.staging_id
inner join cegdb.hyperstage as h
    on p.staging_id = h.staging_id and p.hyperstage_id = h.hyperstage_id
left join cegdb.variable as v on h.variable_id = v.variable_id
left join named as n
    on
        p.staging_id = n.staging_id
        and p.hyperstage_id = n.hyperstage_id
        and p.set_rank = n.set_rank;

comment on view cegdb.parent_sets is 'One row per hyperstage learnt with max_parents and each of its best sets of parents: the earlier variables on which its stages may depend.';
comment on column cegdb.parent_sets.staging is 'Name of the staged tree.';
comment on column cegdb.parent_sets.variable is 'The variable of the hyperstage; null if it has several.';
comment on column cegdb.parent_sets.labels is 'The answers that its situations have in common, in level order.';
comment on column cegdb.parent_sets.set_rank is 'Rank by score: 1 is the set that was chosen, 2 its runner-up, ...';
comment on column cegdb.parent_sets.is_chosen is 'Whether the stages were learnt from this set.';
comment on column cegdb.parent_sets.parents is 'The variables of the set, in the order of the tree; empty if nothing matters.';
comment on column cegdb.parent_sets.n_configurations is 'Number of combinations of answers to them that a respondent has.';
comment on column cegdb.parent_sets.n_situations is 'Number of situations in the hyperstage.';
comment on column cegdb.parent_sets.score is 'Score of the set, more being better: that of learning with one stage for each combination (AIC and BIC times -1/2).';
comment on column cegdb.parent_sets.difference is 'Score minus that of the chosen set: 0 or below.';
comment on column cegdb.parent_sets.hyperstage_id is 'The hyperstage: the smallest vertex_id in it.';
