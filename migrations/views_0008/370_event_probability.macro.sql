-- The probability of an event a row: select * from cegdb.event_probability('falls', 'patients').
-- asked is the name of a table or view. Its columns that are called as variables of the CEG are
-- the event, all of them at once (null: not asked; 'not applicable': not met on the path), the
-- others are carried along. A value is a label, or the code that the file had for it.
create macro cegdb.event_probability(ceg_name, asked) as table
select
    m.* exclude ("cegdb answer"),
    m."cegdb answer".event as event,
    m."cegdb answer".whole as probability
from cegdb.row_masses(ceg_name, asked, null) as m;
