-- The probability of some variables' values given those of the others, a row: select * from
-- cegdb.conditional_probability('falls', 'patients', ['Fall']). As event_probability, but what
-- the columns of other variables say is evidence; where that has probability 0 is an error.
create macro cegdb.conditional_probability(ceg_name, asked, variables) as table
select
    m.* exclude ("cegdb answer"),
    m."cegdb answer".event as event,
    m."cegdb answer".evidence as evidence,
    case
        when m."cegdb answer".given > 0
            then m."cegdb answer".whole / m."cegdb answer".given
        else error(
            'the evidence ' || m."cegdb answer".evidence || ' has probability 0 in CEG '''
            || ceg_name || ''''
        )
    end as probability,
    m."cegdb answer".given as evidence_probability
from cegdb.row_masses(ceg_name, asked, variables) as m;
