-- Automatic top-ups by a saved payment method, and the channels by which an account is told of them.
-- Breaks nothing: new tables, columns that are empty for what exists, and a kind of payment that the release before shows as it is. A process
-- of that release fails to send webhooks of notices, which others then send.

CREATE TABLE auto_top_ups (
  account_id uuid PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  -- The saved payment method, by the ids of its provider. Null if there is none.
  provider text,
  customer_id text,
  method_id text,
  brand text,
  last4 text,
  expiry_month smallint,
  expiry_year smallint,
  -- The address of the gateway's own pages when it was saved, for receipts.
  base_url text,
  saved_at timestamptz,
  is_enabled boolean NOT NULL DEFAULT false,
  -- Null until they are set.
  threshold_nano_usd bigint CHECK (threshold_nano_usd > 0),
  amount_nano_usd bigint CHECK (amount_nano_usd >= threshold_nano_usd),
  -- Of a month of UTC.
  ceiling_nano_usd bigint CHECK (ceiling_nano_usd >= amount_nano_usd),
  -- Charges that failed since one succeeded, or since something was set.
  failures smallint NOT NULL DEFAULT 0,
  -- Not looked at before this time.
  next_try_at timestamptz,
  -- The last failure, as the provider calls it.
  problem text,
  -- The month in which the account was told that the ceiling is reached.
  ceiling_told_month date,
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nulls(provider, customer_id, method_id, brand, last4, base_url, saved_at) IN (0, 7)),
  CHECK (NOT is_enabled
    OR num_nulls(method_id, threshold_nano_usd, amount_nano_usd, ceiling_nano_usd) = 0)
);

CREATE INDEX auto_top_ups_enabled ON auto_top_ups (account_id) WHERE is_enabled;

-- Pages where a person saves a payment method.
CREATE TABLE payment_method_setups (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  provider text NOT NULL,
  -- Null until the provider has answered: a webhook can be faster.
  session_id text,
  customer_id text,
  base_url text NOT NULL,
  success_url text,
  cancel_url text,
  -- Who began it, for the audit log.
  actor jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('open', 'saved', 'expired')),
  expires_at timestamptz NOT NULL,
  -- When to ask the provider what has become of it; null when there is nothing more to ask.
  check_at timestamptz,
  created_at timestamptz NOT NULL,
  UNIQUE (provider, session_id)
);

CREATE INDEX payment_method_setups_by_check ON payment_method_setups (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX payment_method_setups_by_account ON payment_method_setups (account_id, created_at);

-- Methods that the provider has still to forget.
CREATE TABLE payment_methods_to_remove (
  provider text NOT NULL,
  method_id text NOT NULL,
  check_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (provider, method_id)
);

-- With what an automatic top-up is charged. The payment and its checkout are rows of their own.
CREATE TABLE auto_top_up_charges (
  payment_id uuid PRIMARY KEY REFERENCES payments (id),
  customer_id text NOT NULL,
  method_id text NOT NULL,
  -- When to ask the provider for it, again; null when it is over.
  check_at timestamptz
);

CREATE INDEX auto_top_up_charges_by_check ON auto_top_up_charges (check_at) WHERE check_at IS NOT NULL;

ALTER TABLE payments DROP CONSTRAINT payments_kind_check,
  ADD CONSTRAINT payments_kind_check CHECK (kind IN ('checkout', 'promo', 'adjustment', 'refund', 'auto_top_up')) NOT VALID;

CREATE INDEX payments_of_auto_top_ups ON payments (account_id, created_at) WHERE kind = 'auto_top_up';
-- The database itself refuses a second one while one is being charged.
CREATE UNIQUE INDEX auto_top_ups_being_charged ON payments (account_id)
  WHERE kind = 'auto_top_up' AND status IN ('pending', 'processing');

-- What an account is told, once.
CREATE TABLE account_notices (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  type text NOT NULL,
  -- What webhooks get.
  data jsonb NOT NULL,
  -- The same for people.
  subject text NOT NULL,
  text text NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE INDEX account_notices_by_age ON account_notices (created_at);

-- In which form the webhook is called, and who gets alerts by mail.
ALTER TABLE budget_alert_settings
  ADD COLUMN webhook_form text NOT NULL DEFAULT 'parkway' CHECK (webhook_form IN ('parkway', 'slack', 'teams')),
  ADD COLUMN alert_emails text[] NOT NULL DEFAULT '{}';

ALTER TABLE webhook_deliveries
  ADD COLUMN account_notice_id uuid REFERENCES account_notices (id) ON DELETE CASCADE,
  -- An alert goes to several addresses.
  DROP CONSTRAINT webhook_deliveries_budget_alert_id_key,
  DROP CONSTRAINT webhook_deliveries_subject_check,
  ADD CONSTRAINT webhook_deliveries_subject_check
    CHECK (num_nonnulls(task_id, budget_alert_id, budget_warning_id, statement_id, usage_anomaly_id, account_notice_id) = 1) NOT VALID;

CREATE INDEX webhook_deliveries_by_subject_with_notices ON webhook_deliveries
  (account_id, coalesce(task_id, budget_alert_id, budget_warning_id, statement_id, usage_anomaly_id, account_notice_id));
CREATE INDEX webhook_deliveries_by_account_notice ON webhook_deliveries (account_notice_id) WHERE account_notice_id IS NOT NULL;
CREATE INDEX webhook_deliveries_by_budget_alert ON webhook_deliveries (budget_alert_id) WHERE budget_alert_id IS NOT NULL;
