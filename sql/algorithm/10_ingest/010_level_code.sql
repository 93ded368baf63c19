-- step:    level_code
-- mode:    create
-- purpose: The code of each text, for variables with too many texts to list in the query.
-- reads:   nothing
-- writes:  level_code(ordinal, cell, code)
-- params:  ordinals INTEGER[], the variable of each text
--          texts VARCHAR[], as read
--          codes INTEGER[], of their levels
-- source:  serves ingest, and answers for each row of a file (assign, complete, score)
select
    unnest(cast($ordinals as integer[])) as ordinal,
    unnest(cast($texts as varchar[])) as cell,
    unnest(cast($codes as integer[])) as code
