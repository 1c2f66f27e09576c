-- Statements: what changed the credit of an account in a month, numbered and kept once the month is closed.
-- Breaks nothing: new tables, a trigger that also counts what processes of the release before write, and columns that are null for what
-- exists. A charge that such a process posts beside this release is in the sums, and not among those by key and model.

-- The sums of `ledger_entries`, so that a statement reads few rows. Filled by a trigger, so that both never differ.
CREATE TABLE ledger_by_day (
  account_id uuid NOT NULL,
  -- Of UTC, by the time of the entry.
  day date NOT NULL,
  kind text NOT NULL,
  -- Where the credit came from or went to.
  book text NOT NULL,
  -- The change of the account's credit.
  amount_nano_usd bigint NOT NULL,
  PRIMARY KEY (account_id, day, kind, book)
  -- Room on each page, so that a change touches no index.
) WITH (fillfactor = 70);

CREATE INDEX ledger_by_day_of_accounts ON ledger_by_day (day, account_id);

-- In one order, and always under the lock of the account, which every movement takes first.
CREATE FUNCTION count_ledger_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ledger_by_day AS counted (account_id, day, kind, book, amount_nano_usd)
  SELECT account_id, (created_at AT TIME ZONE 'UTC')::date AS day, kind,
    CASE kind WHEN 'charge' THEN 'revenue' ELSE book END AS other,
    sum(CASE kind WHEN 'charge' THEN amount_nano_usd ELSE -amount_nano_usd END)
  FROM added
  -- The side of revenue of charges is one entry for several accounts; of other movements the other side has the account and the book.
  WHERE account_id IS NOT NULL AND (book = 'credit') = (kind = 'charge')
  GROUP BY account_id, day, kind, other ORDER BY account_id, day, kind, other
  ON CONFLICT (account_id, day, kind, book) DO UPDATE
    SET amount_nano_usd = counted.amount_nano_usd + excluded.amount_nano_usd;
  RETURN NULL;
END $$;

CREATE TRIGGER ledger_entries_counted AFTER INSERT ON ledger_entries
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_ledger_entries();

-- What was entered before the trigger, which the next migration counts. The lock of the trigger makes this exact.
CREATE TABLE uncounted_entries AS SELECT coalesce(max(id), 0) AS until_id FROM ledger_entries;

-- Charges by the day of their entry, which may be another one than that of the request.
CREATE TABLE charges_by_day (
  account_id uuid NOT NULL,
  day date NOT NULL,
  key_id uuid NOT NULL,
  model text NOT NULL,
  -- Each writer has rows of its own; readers add them.
  writer smallint NOT NULL,
  requests bigint NOT NULL,
  amount_nano_usd bigint NOT NULL,
  PRIMARY KEY (account_id, day, key_id, model, writer)
) WITH (fillfactor = 70);

CREATE TABLE statements (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  -- The first day of a month of UTC.
  month date NOT NULL,
  number bigint NOT NULL UNIQUE,
  opening_nano_usd bigint NOT NULL,
  closing_nano_usd bigint NOT NULL,
  -- Everything else that it says, with the names of its time.
  content jsonb NOT NULL,
  closed_at timestamptz NOT NULL,
  UNIQUE (account_id, month)
);

CREATE INDEX statements_by_month ON statements (month, number);

CREATE TRIGGER statements_are_append_only BEFORE UPDATE OR DELETE ON statements
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- The last number that was given. Whoever gives the next one locks the row, so that there are no gaps.
CREATE TABLE statement_numbers (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  last_number bigint NOT NULL
);

INSERT INTO statement_numbers (last_number) VALUES (0);

-- The months in which every account has its statement.
CREATE TABLE closed_months (
  month date PRIMARY KEY,
  closed_at timestamptz NOT NULL
);

-- The time zone of an account for its days and months in reports. Null: UTC. Statements are always of UTC.
ALTER TABLE accounts ADD COLUMN time_zone text;

ALTER TABLE webhook_deliveries
  ADD COLUMN statement_id uuid REFERENCES statements (id),
  DROP CONSTRAINT webhook_deliveries_subject_check,
  ADD CONSTRAINT webhook_deliveries_subject_check
    CHECK (num_nonnulls(task_id, budget_alert_id, budget_warning_id, statement_id) = 1) NOT VALID;

CREATE INDEX webhook_deliveries_by_subject_with_statements
  ON webhook_deliveries (account_id, coalesce(task_id, budget_alert_id, budget_warning_id, statement_id));

-- Top-ups and the like among many charges.
CREATE INDEX ledger_entries_moved ON ledger_entries (account_id, created_at, id) WHERE book = 'credit' AND kind <> 'charge';
