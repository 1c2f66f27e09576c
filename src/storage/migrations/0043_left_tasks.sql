-- The worker that still reads the answer of a cancelled response to its usage, or the nil UUID if there is none. If the worker
-- dies, another process charges what was delivered.
-- Breaks nothing: a new column without a default, and an index of the few rows that have a value.

ALTER TABLE tasks ADD COLUMN leaving_worker_id uuid;

CREATE INDEX tasks_leaving ON tasks (leaving_worker_id) WHERE leaving_worker_id IS NOT NULL;
