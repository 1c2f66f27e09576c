-- Runs whose engine was ready and is not any more, and the time that they had no GPU.
-- Breaks nothing: columns with defaults. A process of the release before bills an interrupted run to its end.

ALTER TABLE deployment_runs
  -- Since then a run that was ready is not. Null while it is ready.
  ADD COLUMN unready_at timestamptz,
  -- When the GPU that it has now was bound, if that is not its first one.
  ADD COLUMN rebound_at timestamptz,
  -- The time between its GPUs, which is not billed.
  ADD COLUMN unbound_ms bigint NOT NULL DEFAULT 0 CHECK (unbound_ms >= 0);
