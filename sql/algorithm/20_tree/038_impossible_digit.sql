-- step:    impossible_digit
-- mode:    create
-- purpose: The paths declared impossible, as digits of path codes: a path is impossible if it
--          has all digits of a rule.
-- reads:   nothing
-- writes:  impossible_digit(rule_id, divisor, radix, digit)
-- params:  rules INTEGER[], the rule of each digit
--          divisors BIGINT[], what the digit of its variable is multiplied by
--          radices INTEGER[], number of digits of its variable
--          digits INTEGER[], the digits themselves
-- source:  docs/theory.md, section 14 (Structural and sampling zeros)
select
    unnest(cast($rules as integer[])) as rule_id,
    unnest(cast($divisors as bigint[])) as divisor,
    unnest(cast($radices as integer[])) as radix,
    unnest(cast($digits as integer[])) as digit
