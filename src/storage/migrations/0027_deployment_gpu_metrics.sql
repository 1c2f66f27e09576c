-- Load of the GPUs in the time series of deployments: the last sample of each step.
-- Breaks nothing: new columns that may be empty. A process of the release before writes rows without them; a connection on
-- which it has already read metrics refuses that statement until it is opened again.

ALTER TABLE deployment_metrics ADD COLUMN gpu_utilization real, ADD COLUMN gpu_memory_used_gb real;
