create or replace macro cegdb.event_probability(ceg_name, questions, level := 0.95) as table
select
    m.* exclude ("cegdb answer"),
    m."cegdb answer".event as event,
    m."cegdb answer".whole as probability,
    m."cegdb answer".low as low,
    m."cegdb answer".high as high,
    m."cegdb answer".n as n
from cegdb.row_masses(ceg_name, questions, null, level := level) as m;

comment on macro table cegdb.event_probability is 'The probability of an event per row: select * from cegdb.event_probability(''falls'', ''patients''). questions is the name of a table or view; its columns named like variables of the CEG are the event (null: not part of it), the others are carried along. A value is a label, or the code in the source. Adds the columns event, probability, low, high and n. low and high are the ends of the 95 % interval by the rows alone, whatever the stages are, and n is the number of respondents that it rests on; level := 0.9 gives 90 %, level := null no interval.';
