create or replace macro cegdb.conditional_probability(
    ceg_name, questions, variables, level := 0.95
) as table
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
    m."cegdb answer".low as low,
    m."cegdb answer".high as high,
    m."cegdb answer".n as n,
    m."cegdb answer".given as evidence_probability
from cegdb.row_masses(ceg_name, questions, variables, level := level) as m;

comment on macro table cegdb.conditional_probability is 'The probability of the answers to some variables given those to the others, per row: select * from cegdb.conditional_probability(''falls'', ''patients'', [''Fall'']). As event_probability, but columns of variables that are not listed are evidence; evidence of probability 0 is an error. Adds the columns event, evidence, probability, low, high, n and evidence_probability. low and high are the ends of the 95 % interval by the rows alone, whatever the stages are, and n is the number of respondents that it rests on; level := 0.9 gives 90 %, level := null no interval.';
