-- The worker that still reads the last answers of a cancelled run to their usage. A resumed run waits for it, because its cells
-- would otherwise be asked again under request ids that are about to be charged.
-- Breaks nothing: a new column without a default.

ALTER TABLE compare_runs ADD COLUMN leaving_worker_id uuid;
