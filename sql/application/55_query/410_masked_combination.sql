-- step:    masked_combination
-- mode:    create
-- purpose: The combinations with the answers to some variables only, and 0 for the others,
--          beside the answer to the variable to be predicted.
-- reads:   row_combination
-- writes:  masked_combination(combination_id, cells, actual)
-- params:  used INTEGER[], ranks of the variables to predict from
--          rank INTEGER, of the variable to be predicted
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves predictions for each row of a file (predict, classify, calibration)
select
    combination_id,
    cast(
        [
            if(list_contains(cast($used as integer[]), i - 1), codes[i], 0)
            for i in range(1, len(codes) + 1)
        ] as integer[]
    ) as cells,
    codes[$rank + 1] as actual
from temp.row_combination
