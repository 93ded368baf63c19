create macro cegdb.event_probability(ceg_name, questions) as table
select
    m.* exclude ("cegdb answer"),
    m."cegdb answer".event as event,
    m."cegdb answer".whole as probability
from cegdb.row_masses(ceg_name, questions, null) as m;

comment on macro table cegdb.event_probability is 'The probability of an event per row: select * from cegdb.event_probability(''falls'', ''patients''). questions is the name of a table or view; its columns named like variables of the CEG are the event (null: not part of it), the others are carried along. A value is a label, or the code in the source. Adds the columns event and probability.';
