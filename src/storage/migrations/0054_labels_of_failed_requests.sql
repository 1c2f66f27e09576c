-- The tags of requests that were not charged, for the log.
-- Breaks nothing: a column that is null for what exists and for what a process of the release before writes.

ALTER TABLE failed_requests ADD COLUMN labels text[];
