create macro cegdb.known_variables(ceg_name) as table
select distinct x.part ->> '$.variable' as variable
from (
    select unnest(list_prepend(c.evidence, cast(c.evidence -> '$.of[*]' as json[]))) as part
    from cegdb.ceg_ancestors as a
    inner join cegdb.ceg as c on a.ancestor_id = c.ceg_id
    where a.ceg = ceg_name and c.evidence is not null
) as x
where x.part ->> '$.kind' = 'answer';

comment on macro table cegdb.known_variables is 'The variables that the evidence stored with a CEG names, whose probabilities are certain; the macros that give intervals read it: select * from cegdb.known_variables(''falls''). Column: variable.';
