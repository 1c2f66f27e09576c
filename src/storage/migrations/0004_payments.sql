-- Payments, promo codes and the log of what operators do.
-- Breaks nothing: new tables.

-- Everything that moved credit of an account other than using it, in one list: bought, given by a code, adjusted by an
-- operator, taken back.
CREATE TABLE payments (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id),
  kind text NOT NULL CHECK (kind IN ('checkout', 'promo', 'adjustment', 'refund')),
  -- Negative when credit was taken.
  amount_nano_usd bigint NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'expired', 'cancelled',
    'refunded', 'partially_refunded', 'disputed', 'returned')),
  -- Of a refund: the payment whose credit it took.
  refunded_payment_id uuid REFERENCES payments (id),
  -- What makes it happen once: the provider's refund or dispute, or an operator's idempotency key.
  reference text UNIQUE,
  reason text,
  receipt_url text,
  created_at timestamptz NOT NULL,
  -- When the credit moved.
  completed_at timestamptz
);

CREATE INDEX payments_by_account ON payments (account_id, id);
CREATE INDEX payments_by_refunded ON payments (refunded_payment_id) WHERE refunded_payment_id IS NOT NULL;

-- What the provider knows a checkout by.
CREATE TABLE checkouts (
  payment_id uuid PRIMARY KEY REFERENCES payments (id),
  provider text NOT NULL,
  -- Null until the provider has answered: a webhook can be faster.
  session_id text,
  provider_payment_id text,
  base_url text NOT NULL,
  success_url text,
  cancel_url text,
  expires_at timestamptz NOT NULL,
  -- When to ask the provider what has become of it; null when there is nothing more to ask.
  check_at timestamptz,
  -- When somebody who waits for it last made us ask.
  asked_at timestamptz,
  UNIQUE (provider, session_id)
);

CREATE INDEX checkouts_by_provider_payment ON checkouts (provider, provider_payment_id)
  WHERE provider_payment_id IS NOT NULL;
CREATE INDEX checkouts_by_check ON checkouts (provider, check_at) WHERE check_at IS NOT NULL;

-- Webhook events that were acted on. Written in the transaction that acts, never before it.
CREATE TABLE payment_events (
  provider text NOT NULL,
  event_id text NOT NULL,
  type text NOT NULL,
  payment_id uuid NOT NULL REFERENCES payments (id),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (provider, event_id)
);

CREATE INDEX payment_events_by_age ON payment_events (created_at);

CREATE TABLE promo_codes (
  id uuid PRIMARY KEY,
  -- In capitals: people type codes as they like.
  code text NOT NULL UNIQUE,
  amount_nano_usd bigint NOT NULL CHECK (amount_nano_usd > 0),
  -- Days until the credit expires, from its redemption; null for never.
  credit_days integer CHECK (credit_days > 0),
  expires_at timestamptz,
  redemptions_max integer CHECK (redemptions_max > 0),
  redemptions_per_account_max integer NOT NULL CHECK (redemptions_per_account_max > 0),
  redemptions integer NOT NULL DEFAULT 0 CHECK (redemptions >= 0),
  disabled_at timestamptz,
  created_at timestamptz NOT NULL,
  -- The database itself refuses one redemption too many.
  CHECK (redemptions_max IS NULL OR redemptions <= redemptions_max)
);

CREATE TABLE promo_redemptions (
  payment_id uuid PRIMARY KEY REFERENCES payments (id),
  promo_code_id uuid NOT NULL REFERENCES promo_codes (id),
  account_id uuid NOT NULL REFERENCES accounts (id)
);

CREATE INDEX promo_redemptions_by_code ON promo_redemptions (promo_code_id, payment_id);
CREATE INDEX promo_redemptions_by_account ON promo_redemptions (account_id, promo_code_id);

-- Codes that did not exist, counted by who tried them: `account:<id>` and `key:<id>`.
CREATE TABLE promo_guesses (
  scope text PRIMARY KEY,
  failures integer NOT NULL,
  window_ends_at timestamptz NOT NULL
);

-- What operators did, or tried to.
CREATE TABLE audit_entries (
  id uuid PRIMARY KEY,
  actor_account_id uuid NOT NULL,
  actor_key_id uuid NOT NULL,
  action text NOT NULL,
  target_kind text,
  target_id text,
  details jsonb NOT NULL,
  -- Null while it runs, and for good when the process died on it: whether it happened is then for the reader to find out.
  outcome text CHECK (outcome IN ('done', 'failed')),
  created_at timestamptz NOT NULL
);

CREATE INDEX audit_entries_by_target ON audit_entries (target_id, id) WHERE target_id IS NOT NULL;

-- An entry is closed once and is never changed or removed after that.
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.outcome IS NULL AND NEW.outcome IS NOT NULL AND NEW.id = OLD.id
    AND NEW.actor_account_id = OLD.actor_account_id AND NEW.actor_key_id = OLD.actor_key_id
    AND NEW.action = OLD.action AND NEW.created_at = OLD.created_at THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'entries of the audit log are never changed';
END $$;

CREATE TRIGGER audit_entries_are_kept BEFORE UPDATE OR DELETE ON audit_entries
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

-- The test checkout asks whether a key of production exists.
CREATE INDEX api_keys_of_production ON api_keys (id) WHERE environment IN ('live', 'prod') AND revoked_at IS NULL;
