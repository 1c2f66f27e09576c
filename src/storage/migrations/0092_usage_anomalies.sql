-- Days that cost more than usual, as accounts were told.
-- Breaks nothing: new tables, and a column that is null for what exists. A process of the release before fails to send webhooks of anomalies, which
-- others then send.

CREATE TABLE usage_anomalies (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- Of UTC.
  day date NOT NULL,
  -- The key and the model that are why most of all. Another cause is told on the same day.
  cause text NOT NULL,
  -- What was told.
  content jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (account_id, day, cause)
);

CREATE INDEX usage_anomalies_by_time ON usage_anomalies (created_at);

-- How far the accounts were looked at in an hour. Whoever goes on locks the row.
CREATE TABLE usage_anomaly_checks (
  hour timestamptz PRIMARY KEY,
  after_account_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  is_done boolean NOT NULL DEFAULT false
);

ALTER TABLE webhook_deliveries
  ADD COLUMN usage_anomaly_id uuid REFERENCES usage_anomalies (id) ON DELETE CASCADE,
  DROP CONSTRAINT webhook_deliveries_subject_check,
  ADD CONSTRAINT webhook_deliveries_subject_check
    CHECK (num_nonnulls(task_id, budget_alert_id, budget_warning_id, statement_id, usage_anomaly_id) = 1) NOT VALID;

CREATE INDEX webhook_deliveries_by_subject_with_usage_anomalies
  ON webhook_deliveries (account_id, coalesce(task_id, budget_alert_id, budget_warning_id, statement_id, usage_anomaly_id));
CREATE INDEX webhook_deliveries_by_usage_anomaly ON webhook_deliveries (usage_anomaly_id) WHERE usage_anomaly_id IS NOT NULL;
