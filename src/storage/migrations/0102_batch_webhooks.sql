-- Webhooks of batches.
-- Breaks nothing: a column that is empty for what exists. A process of the release before ends batches without calling anybody.

ALTER TABLE batches ADD COLUMN webhook_url text;
