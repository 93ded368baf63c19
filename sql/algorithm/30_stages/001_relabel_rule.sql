-- step:    relabel_rule
-- mode:    create
-- purpose: The user's relabelling rules, one per row: a label, where it is replaced
--          (everywhere, in one variable, or at the end of a path), and the new label.
-- reads:   nothing
-- writes:  relabel_rule(rule_id, raw_label, label, variable, is_path, path)
-- params:  raw_labels VARCHAR[], labels of the tree
--          labels VARCHAR[], their new labels
--          variables VARCHAR[], the variable of each rule, or null
--          is_path BOOLEAN[], whether the rule is for the end of a path
--          paths VARCHAR[][], these paths, labels from the root; empty for other rules
-- source:  docs/theory.md, section 5 (Equivalent labels)
select
    unnest(range(len($raw_labels))) as rule_id,
    unnest(cast($raw_labels as varchar[])) as raw_label,
    unnest(cast($labels as varchar[])) as label,
    unnest(cast($variables as varchar[])) as variable,
    unnest(cast($is_path as boolean[])) as is_path,
    unnest(cast($paths as varchar[][])) as path
