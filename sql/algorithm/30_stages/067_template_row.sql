-- step:    template_row
-- mode:    create
-- purpose: The rows of a template that an expert filled in.
-- reads:   nothing
-- writes:  template_row(row_id, line, name, vertex_id, variable, labels)
-- params:  lines VARCHAR[], where each row is in the file
--          names VARCHAR[], the stage, or null
--          vertex_ids BIGINT[], the situation, or null
--          variables VARCHAR[], the variable, or null
--          paths VARCHAR[][], labels from the root, or null
-- source:  serves templates (files in which an expert fills in the stages)
select
    unnest(range(len($lines))) as row_id,
    unnest(cast($lines as varchar[])) as line,
    unnest(cast($names as varchar[])) as name,
    unnest(cast($vertex_ids as bigint[])) as vertex_id,
    unnest(cast($variables as varchar[])) as variable,
    unnest(cast($paths as varchar[][])) as labels
