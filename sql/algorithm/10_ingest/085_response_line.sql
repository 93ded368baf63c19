-- step:    response_line
-- mode:    view
-- purpose: The lines of a source with a count above 0: number of respondents, and the sums of
--          their weights and squared weights (null without weights). The other columns are the
--          cells, c1, c2, ..., and the cluster of a clustered sample.
-- reads:   parsed_line
-- writes:  response_line(c1, ..., n, weight, weight_sq)
-- params:  none
-- source:  docs/architecture.md, section Tables
select
    *
    exclude (
        count_text, weight_text, n_lines, n_respondents, is_bad_count, weight_size, weight,
        n_decimals, is_bad_weight
    ),
    cast(n_respondents * n_lines as bigint) as n,
    cast(weight * cast(n_respondents * n_lines as bigint) as decimal(38, 12)) as weight,
    cast(
        cast(cast(weight as double) * cast(weight as double) as decimal(38, 12))
        * cast(n_respondents * n_lines as bigint) as decimal(38, 12)
    ) as weight_sq
from temp.parsed_line
where n_respondents > 0
