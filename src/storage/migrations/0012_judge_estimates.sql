-- What a run is estimated to cost includes its judge; what its cells are expected to cost does not.
-- Breaks nothing: runs that were made before are estimated as they were.

-- Within estimated_cost_nano_usd, what the judge is expected to cost.
ALTER TABLE compare_runs ADD COLUMN estimated_judge_nano_usd bigint NOT NULL DEFAULT 0;
