-- Finds the webhook deliveries of an account, newest task first.
-- Breaks nothing: a new index.

CREATE INDEX webhook_deliveries_by_account ON webhook_deliveries (account_id, task_id);
