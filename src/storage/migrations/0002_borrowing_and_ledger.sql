-- Prepaid credit: what every account owns, what processes have borrowed of it, and what was charged.
-- Breaks: `accounts.balance_nano_usd` is gone. A balance is the sum of an account's lots, leases and debt, and equals the
-- sum of its entries in the book `credit`; what the column held becomes a lot and a first entry.

-- A process that has borrowed something. Its leases are good until it stops renewing this row.
CREATE TABLE borrowers (
  id uuid PRIMARY KEY,
  -- A number no other living borrower has: what a process counts goes to rows of its own, so that nobody waits for another.
  writer smallint NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Set when what it had borrowed was taken back. The row stays for a while, for the process that wakes up late.
  closed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX borrowers_by_writer ON borrowers (writer) WHERE closed_at IS NULL;

-- One row an account: whoever moves credit of the account locks it first.
CREATE TABLE credit_accounts (
  account_id uuid PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  -- Reversed credit that had been spent already. Nothing can be spent until it is made good.
  debt_nano_usd bigint NOT NULL DEFAULT 0 CHECK (debt_nano_usd >= 0)
);

-- Credit as it was given: each grant is a lot, because promotional credit goes first and may expire.
CREATE TABLE credit_lots (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES credit_accounts (account_id) ON DELETE CASCADE,
  class text NOT NULL CHECK (class IN ('paid', 'promotional')),
  granted_nano_usd bigint NOT NULL CHECK (granted_nano_usd > 0),
  -- Neither spent nor lent to anybody.
  remaining_nano_usd bigint NOT NULL CHECK (remaining_nano_usd BETWEEN 0 AND granted_nano_usd),
  expires_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX credit_lots_by_account ON credit_lots (account_id) WHERE remaining_nano_usd > 0;
CREATE INDEX credit_lots_by_expiry ON credit_lots (expires_at) WHERE remaining_nano_usd > 0 AND expires_at IS NOT NULL;

-- Credit set aside for one piece of long work, by the caller's key.
CREATE TABLE credit_holds (
  key text PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES credit_accounts (account_id) ON DELETE CASCADE,
  amount_nano_usd bigint NOT NULL CHECK (amount_nano_usd >= 0),
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'settled', 'released')),
  charged_nano_usd bigint NOT NULL DEFAULT 0 CHECK (charged_nano_usd BETWEEN 0 AND amount_nano_usd),
  -- Nobody settled it by then: what was set aside goes back.
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  closed_at timestamptz
);

CREATE INDEX credit_holds_by_account ON credit_holds (account_id) WHERE status = 'open';
CREATE INDEX credit_holds_by_expiry ON credit_holds (expires_at) WHERE status = 'open';

-- What was lent out of a lot, or of what a cap still allows, to a process or to a hold.
CREATE TABLE credit_leases (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES credit_accounts (account_id) ON DELETE CASCADE,
  borrower_id uuid REFERENCES borrowers (id),
  hold_key text REFERENCES credit_holds (key) ON DELETE CASCADE,
  lot_id uuid REFERENCES credit_lots (id) ON DELETE CASCADE,
  -- `key:<id>`, `day:<account>:<date>` or `month:<account>:<month>`: a scope of spend_totals with a limit.
  cap text,
  amount_nano_usd bigint NOT NULL,
  spent_nano_usd bigint NOT NULL DEFAULT 0,
  -- The database itself refuses to spend what was not lent.
  CHECK (spent_nano_usd BETWEEN 0 AND amount_nano_usd),
  CHECK (num_nonnulls(borrower_id, hold_key) = 1),
  CHECK (num_nonnulls(lot_id, cap) = 1)
);

CREATE UNIQUE INDEX credit_leases_of_borrower ON credit_leases (borrower_id, coalesce(lot_id::text, cap))
  WHERE borrower_id IS NOT NULL;
CREATE INDEX credit_leases_of_hold ON credit_leases (hold_key) WHERE hold_key IS NOT NULL;
CREATE INDEX credit_leases_by_account ON credit_leases (account_id);
CREATE INDEX credit_leases_by_cap ON credit_leases (cap) WHERE cap IS NOT NULL;

-- The books. Append-only; the amounts under one key add up to nothing. Here and in usage no reference is checked row by row:
-- accounts are never deleted, and the check would cost more than the row.
CREATE TABLE ledger_entries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The caller's name for what happened, so that it happens once.
  key text NOT NULL,
  account_id uuid NOT NULL,
  -- `credit` is what the gateway owes the account; the others are where that came from or went to.
  book text NOT NULL CHECK (book IN ('credit', 'cash', 'revenue', 'promotion', 'adjustment')),
  kind text NOT NULL CHECK (kind IN ('grant', 'charge', 'reverse', 'deduct', 'expire')),
  amount_nano_usd bigint NOT NULL,
  reason text,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (key, book)
);

CREATE INDEX ledger_entries_by_account ON ledger_entries (account_id, id);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME;
END $$;

CREATE TRIGGER ledger_entries_are_append_only BEFORE UPDATE OR DELETE ON ledger_entries
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Caps on what an account spends in a period, beside its balance.
CREATE TABLE spend_budgets (
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  period text NOT NULL CHECK (period IN ('day', 'month')),
  limit_nano_usd bigint NOT NULL CHECK (limit_nano_usd >= 0),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, period)
);

-- What was charged, one row a request. Written with the charge, in the same commit.
CREATE TABLE usage_records (
  account_id uuid NOT NULL,
  -- The request's id: its first 48 bits are the time the request began, which is the time of everything below.
  id uuid NOT NULL,
  key_id uuid NOT NULL,
  environment text NOT NULL,
  operation text NOT NULL,
  model text NOT NULL,
  provider text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('completed', 'disconnected', 'failed')),
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  cost_nano_usd bigint NOT NULL CHECK (cost_nano_usd >= 0),
  -- The part of the cost that was paid with promotional credit.
  promotional_nano_usd bigint NOT NULL CHECK (promotional_nano_usd BETWEEN 0 AND cost_nano_usd),
  latency_ms integer NOT NULL,
  first_token_ms integer,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);

-- The same, added up by hour. Each writer has rows of its own; readers add them.
CREATE TABLE usage_rollups (
  account_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  key_id uuid NOT NULL,
  model text NOT NULL,
  provider text NOT NULL,
  operation text NOT NULL,
  writer smallint NOT NULL,
  environment text NOT NULL,
  requests bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  cost_nano_usd bigint NOT NULL,
  promotional_nano_usd bigint NOT NULL,
  PRIMARY KEY (account_id, hour, key_id, model, provider, operation, writer)
);

-- Spending of everything that can have a cap, `key:<id>`, `day:<account>:<date>`, `month:<account>:<month>`, capped or not.
CREATE TABLE spend_totals (
  scope text NOT NULL,
  writer smallint NOT NULL,
  spent_nano_usd bigint NOT NULL,
  PRIMARY KEY (scope, writer)
);

-- Rows that every commit changes leave room on their page, so that a change touches no index.
ALTER TABLE usage_rollups SET (fillfactor = 70);
ALTER TABLE spend_totals SET (fillfactor = 70);
ALTER TABLE credit_leases SET (fillfactor = 70);
ALTER TABLE borrowers SET (fillfactor = 50);

INSERT INTO credit_accounts (account_id, debt_nano_usd)
SELECT id, greatest(0, -balance_nano_usd) FROM accounts;

INSERT INTO credit_lots (id, account_id, class, granted_nano_usd, remaining_nano_usd)
SELECT gen_random_uuid(), id, 'paid', balance_nano_usd, balance_nano_usd FROM accounts WHERE balance_nano_usd > 0;

INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, reason)
SELECT 'opening:' || id, id, book, 'grant', sign * balance_nano_usd, 'Balance from before the ledger'
FROM accounts CROSS JOIN (VALUES ('credit', 1), ('adjustment', -1)) AS legs (book, sign)
WHERE balance_nano_usd <> 0;

ALTER TABLE accounts DROP COLUMN balance_nano_usd;
