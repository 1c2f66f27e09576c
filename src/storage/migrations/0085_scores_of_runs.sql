-- Runs: scores of every answer, by name.
-- Breaks nothing.

-- `[{name, type, …}]`, as they were ordered.
ALTER TABLE compare_runs ADD COLUMN scores jsonb;
-- `{name: {score, reason}}`
ALTER TABLE compare_cells ADD COLUMN scores jsonb;
