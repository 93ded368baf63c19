create view cegdb.presumed_zeros as
select
    t.name as tree,
    v.name as variable,
    l.label,
    w.path,
    z.n,
    z.n_with,
    z.n_without,
    z.log_p0,
    1 - pow(0.05, 1.0 / z.n) as high,
    z.vertex_id
from cegdb.event_tree as t
cross join
    lateral (
        select
            vertex_id,
            path
        from cegdb.situation_paths(t.tree_id)
    ) as w
inner join cegdb.presumed_zero as z on t.tree_id = z.tree_id and w.vertex_id = z.vertex_id
inner join cegdb.level as l on z.level_id = l.level_id
inner join cegdb.variable as v on l.variable_id = v.variable_id;

comment on view cegdb.presumed_zeros is 'One row per situation of an event tree and answer presumed impossible there (sampling_zeros ''auto''): nobody gave it, and it is too common elsewhere for chance to explain that. It has no edge; to declare it impossible for certain, use impossible or a gate.';
comment on column cegdb.presumed_zeros.tree is 'Name of the event tree.';
comment on column cegdb.presumed_zeros.variable is 'The variable of the situation.';
comment on column cegdb.presumed_zeros.label is 'The answer that nobody gave.';
comment on column cegdb.presumed_zeros.path is 'The answers from the root to the situation, joined by '' -> ''; empty for the root.';
comment on column cegdb.presumed_zeros.n is 'Number of respondents who answered the question in this situation.';
comment on column cegdb.presumed_zeros.n_with is 'Number of respondents who gave this answer in other situations.';
comment on column cegdb.presumed_zeros.n_without is 'Number of respondents who gave other answers in other situations.';
comment on column cegdb.presumed_zeros.log_p0 is 'Natural logarithm of the probability that none of n gives the answer, if they answer as in the other situations.';
comment on column cegdb.presumed_zeros.high is 'Largest probability of the answer that n respondents without it leave open (95 % limit): 1 - 0.05^(1/n).';
comment on column cegdb.presumed_zeros.vertex_id is 'The situation.';
