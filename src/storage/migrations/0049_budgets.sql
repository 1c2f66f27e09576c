-- Budgets of an account, a project, a group, a person, a service account, a key or a tag, over windows of time.
-- Breaks nothing: new tables, and a column with a default. A process of the release before does not know these budgets: it keeps to those
-- of `spend_budgets`, and does not add up what it posts. So budgets are exact from the time at which every process is of this release.

CREATE TABLE budgets (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- Whose spending it limits: `account`, `project:<id>`, `user:<id>`, `service_account:<id>`, `key:<id>`, `group:<id>`, `tag:<name>=<value>`.
  subject text NOT NULL,
  -- Only charges of these models count. Null: all. In order and without repetitions.
  models text[],
  -- Its windows: days, weeks from Monday and months of UTC, or all time.
  period text NOT NULL CHECK (period IN ('day', 'week', 'month', 'total')),
  limit_nano_usd bigint NOT NULL CHECK (limit_nano_usd >= 0),
  -- Requests that do not fit are refused. Otherwise its thresholds only warn.
  is_hard boolean NOT NULL,
  -- Who may change it: whoever manages the account, whoever manages the project, or the person that it is about.
  level text NOT NULL CHECK (level IN ('account', 'project', 'personal')),
  -- The project whose owners may see and change it. Null: none.
  project_id uuid,
  raise_nano_usd bigint CHECK (raise_nano_usd > 0),
  raise_until timestamptz,
  -- Parts of the limit that raise an alert, rising.
  thresholds_percent smallint[] NOT NULL,
  -- Whom alerts tell beside the webhook of the account.
  webhook_url text,
  -- The form of what the webhook gets: ours, or that of a chat program.
  webhook_form text CHECK (webhook_form IN ('parkway', 'slack', 'teams')),
  email_recipients text[] NOT NULL DEFAULT '{}',
  email_subject_prefix text,
  -- False until what was spent before has been added up. Requests do not see it before.
  is_counted boolean NOT NULL DEFAULT false,
  -- The version of the account's budgets at its last change.
  version bigint NOT NULL,
  created_by_user_id uuid,
  created_by_key_id uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- A deleted one stays for a while, so that processes that read only what changed drop it.
  deleted_at timestamptz,
  CHECK ((raise_nano_usd IS NULL) = (raise_until IS NULL)),
  CHECK ((webhook_url IS NULL) = (webhook_form IS NULL))
);

CREATE INDEX budgets_by_subject ON budgets (account_id, subject) WHERE deleted_at IS NULL;
CREATE INDEX budgets_by_account ON budgets (account_id, id) WHERE deleted_at IS NULL;
CREATE INDEX budgets_by_version ON budgets (account_id, version);
CREATE INDEX budgets_uncounted ON budgets (created_at) WHERE NOT is_counted AND deleted_at IS NULL;
CREATE INDEX budgets_deleted ON budgets (deleted_at) WHERE deleted_at IS NOT NULL;

-- What was spent in a window of a budget. Each writer has rows of its own, so that writers do not wait for each other.
CREATE TABLE budget_spending (
  -- No reference: a posting must not fail because a budget is deleted meanwhile. The sweep removes what is left.
  budget_id uuid NOT NULL,
  -- The first day of the window, in UTC; 1970-01-01 for all time.
  window_start date NOT NULL,
  writer smallint NOT NULL,
  spent_nano_usd bigint NOT NULL,
  PRIMARY KEY (budget_id, window_start, writer)
);

-- The first day of the window in which a time lies.
CREATE FUNCTION budget_window(period text, at timestamptz) RETURNS date LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE period WHEN 'total' THEN date '1970-01-01' ELSE date_trunc(period, at AT TIME ZONE 'UTC')::date END
$$;

-- Rises with every change of the account's budgets, so that processes read only what changed since. Zero: there never was one.
ALTER TABLE credit_accounts ADD COLUMN budgets_version bigint NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION spent_under(scope text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  kind text := split_part(scope, ':', 1);
  owner uuid := split_part(scope, ':', 2)::uuid;
  first_day date;
BEGIN
  IF kind = 'budget' THEN
    RETURN coalesce((SELECT sum(spent_nano_usd) FROM budget_spending
      WHERE budget_id = owner AND window_start = split_part(scope, ':', 3)::date), 0);
  END IF;
  IF kind = 'key' THEN
    RETURN coalesce((SELECT sum(spent_nano_usd) FROM spend_by_day WHERE key_id = owner), 0)
      + coalesce((SELECT sum(spent_nano_usd) FROM spend_by_day
          WHERE key_id IN (SELECT id FROM api_keys WHERE parent_id = owner)), 0);
  END IF;
  first_day := to_date(split_part(scope, ':', 3), 'YYYY-MM-DD');
  RETURN coalesce((
    SELECT sum(spent_nano_usd) FROM spend_by_day
    WHERE account_id = owner AND day >= first_day AND day < first_day + format('1 %s', kind)::interval), 0);
END $$;

-- Budgets that have been charged, to be compared with their thresholds. Whoever reads a row deletes it and raises the alerts that are due,
-- in one transaction. A table of its own, because a process of the release before would take rows out of `budget_checks`.
CREATE TABLE budget_window_checks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  budget_id uuid NOT NULL,
  window_start date NOT NULL
);

CREATE TABLE budget_warnings (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  budget_id uuid NOT NULL REFERENCES budgets (id) ON DELETE CASCADE,
  window_start date NOT NULL,
  threshold_percent smallint NOT NULL CHECK (threshold_percent BETWEEN 1 AND 100),
  -- As they were when the alert was raised.
  limit_nano_usd bigint NOT NULL,
  spent_nano_usd bigint NOT NULL,
  created_at timestamptz NOT NULL,
  -- Each threshold raises one alert in a window.
  UNIQUE (budget_id, window_start, threshold_percent)
);

CREATE INDEX budget_warnings_by_account ON budget_warnings (account_id, id);
CREATE INDEX budget_warnings_by_age ON budget_warnings (created_at);

-- A process of the release before leaves these deliveries to the new one.
ALTER TABLE webhook_deliveries ADD COLUMN budget_warning_id uuid REFERENCES budget_warnings (id) ON DELETE CASCADE,
  DROP CONSTRAINT webhook_deliveries_subject_check,
  ADD CONSTRAINT webhook_deliveries_subject_check CHECK (num_nonnulls(task_id, budget_alert_id, budget_warning_id) = 1) NOT VALID;

CREATE INDEX webhook_deliveries_by_subject_of_any_kind
  ON webhook_deliveries (account_id, coalesce(task_id, budget_alert_id, budget_warning_id));
CREATE INDEX webhook_deliveries_by_budget_warning ON webhook_deliveries (budget_warning_id) WHERE budget_warning_id IS NOT NULL;

-- A person asks for more; whoever manages the budget answers.
CREATE TABLE budget_requests (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  budget_id uuid NOT NULL REFERENCES budgets (id) ON DELETE CASCADE,
  user_id uuid REFERENCES users (id) ON DELETE CASCADE,
  key_id uuid NOT NULL,
  amount_nano_usd bigint NOT NULL CHECK (amount_nano_usd > 0),
  until timestamptz NOT NULL,
  reason text NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'refused')),
  decided_by_user_id uuid,
  decided_by_key_id uuid,
  decided_at timestamptz,
  created_at timestamptz NOT NULL
);

CREATE INDEX budget_requests_by_account ON budget_requests (account_id, id);
CREATE INDEX budget_requests_by_budget ON budget_requests (budget_id, id);

-- A tag of a budget always has sums of its own.
CREATE OR REPLACE FUNCTION is_kept_label(account_id uuid, label text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT starts_with($2, 'group:') OR EXISTS (
    SELECT FROM budgets WHERE budgets.account_id = $1 AND budgets.subject = $2 AND deleted_at IS NULL)
$$;
