-- Alerts when an account has spent a part of a budget, and webhooks that tell of them.
-- Breaks: `webhook_deliveries.task_id` may be null. An earlier release that still runs leaves such deliveries to the new one.

CREATE TABLE budget_alert_settings (
  account_id uuid PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  -- Rising. Empty for no alerts.
  thresholds_percent smallint[] NOT NULL,
  webhook_url text,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Days on which an account with a budget has spent. Written with each charge; whoever reads a row deletes it and raises the alerts that
-- are due, in one transaction.
CREATE TABLE budget_checks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- Of UTC, like budgets.
  day date NOT NULL
);

CREATE INDEX budget_checks_by_account ON budget_checks (account_id);

CREATE TABLE budget_alerts (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  period text NOT NULL CHECK (period IN ('day', 'month')),
  period_start date NOT NULL,
  threshold_percent smallint NOT NULL CHECK (threshold_percent BETWEEN 1 AND 100),
  -- As they were when the alert was raised.
  limit_nano_usd bigint NOT NULL,
  spent_nano_usd bigint NOT NULL,
  created_at timestamptz NOT NULL,
  -- Each threshold raises one alert in a period.
  UNIQUE (account_id, period, period_start, threshold_percent)
);

CREATE INDEX budget_alerts_by_account ON budget_alerts (account_id, id);
CREATE INDEX budget_alerts_by_age ON budget_alerts (created_at);

ALTER TABLE webhook_deliveries ALTER COLUMN task_id DROP NOT NULL,
  ADD COLUMN budget_alert_id uuid UNIQUE REFERENCES budget_alerts (id) ON DELETE CASCADE,
  ADD CONSTRAINT webhook_deliveries_subject_check CHECK (num_nonnulls(task_id, budget_alert_id) = 1) NOT VALID;

-- Both ids rise with time.
CREATE INDEX webhook_deliveries_by_subject ON webhook_deliveries (account_id, coalesce(task_id, budget_alert_id));
DROP INDEX webhook_deliveries_by_account;
