-- Runs that ask their cells as lines of batches.
-- Breaks nothing: columns without defaults, a new table, and a rule that is relaxed. No such run is made while a process of an earlier release lives.

-- The most that a line may cost. Null: no limit of the batch.
ALTER TABLE batches ADD COLUMN line_nano_usd_max bigint;

-- Null or false: the cells are asked one by one.
ALTER TABLE compare_runs ADD COLUMN is_batch boolean;
-- Nobody works on the run until its batches have ended.
ALTER TABLE compare_runs ADD COLUMN awaits_batches boolean;

CREATE INDEX compare_runs_awaiting ON compare_runs (account_id, id) WHERE awaits_batches;

-- The batch whose line answered the cell.
ALTER TABLE compare_cells ADD COLUMN batch_id uuid;

CREATE TABLE compare_run_batches (
  -- Without a reference: a batch that was forgotten is not asked again.
  batch_id uuid PRIMARY KEY,
  run_id uuid NOT NULL REFERENCES compare_runs (id) ON DELETE CASCADE,
  lane_position smallint NOT NULL,
  -- The run was cancelled: what the batch did not ask is still to be asked.
  is_withdrawn boolean NOT NULL DEFAULT false,
  -- When its answers were in the cells.
  collected_at timestamptz
);

-- A cell is a line of one batch at a time.
CREATE UNIQUE INDEX compare_run_batches_open ON compare_run_batches (run_id, lane_position) WHERE collected_at IS NULL;
CREATE INDEX compare_run_batches_by_run ON compare_run_batches (run_id);

-- A run whose batches run has no worker, and a cancelled one has one while their answers are collected.
ALTER TABLE compare_runs DROP CONSTRAINT compare_runs_check;
ALTER TABLE compare_runs ADD CONSTRAINT compare_runs_worker_check
  CHECK ((status = 'running') = (worker_id IS NOT NULL) OR is_batch IS TRUE) NOT VALID;
