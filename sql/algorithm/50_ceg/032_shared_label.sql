-- step:    shared_label
-- mode:    fetch
-- purpose: Whether a label may stand for several labels of the tree: because the staging
--          relabels edges, or because the codebook declares labels the same.
-- reads:   relabelled_edge, level, variable
-- writes:  shared_label(is_shared)
-- params:  survey_id INTEGER, the survey
--          staging_id INTEGER, the staging
-- source:  docs/theory.md, section 5 (Equivalent labels)
select
    exists (select 1 from cegdb.relabelled_edge as r where r.staging_id = $staging_id)
    or exists (
        select l.label_id
        from cegdb.level as l
        inner join cegdb.variable as v on l.variable_id = v.variable_id
        where v.survey_id = $survey_id
        group by l.label_id
        having min(l.label) <> max(l.label)
    ) as is_shared
