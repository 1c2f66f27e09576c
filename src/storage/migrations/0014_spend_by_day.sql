-- A posting writes less for each account: one sum a day and key instead of three of a key, a day and a month, and one entry instead of
-- two, because the other side of all its charges is one entry of the book `revenue`.
-- Breaks: `spend_totals` is gone, entries of `revenue` may have no account, and only movements other than charges are unique by their key. A
-- charge is written once because its commit leaves the journal, or its hold is closed, in the same transaction.

-- What was spent: what a cap allows is less by this.
CREATE TABLE spend_by_day (
  account_id uuid NOT NULL,
  -- Of UTC, like months.
  day date NOT NULL,
  key_id uuid NOT NULL,
  -- Each writer has rows of its own; readers add them.
  writer smallint NOT NULL,
  spent_nano_usd bigint NOT NULL,
  PRIMARY KEY (account_id, day, key_id, writer)
  -- Room on each page, so that a change touches no index.
) WITH (fillfactor = 70);

CREATE INDEX spend_by_day_of_key ON spend_by_day (key_id);

-- Whoever adds to the rollups adds to these totals in the same statement: from here on nobody does, and a gateway of before that still runs
-- cannot post any more. What it has charged stays in the journal, for a new one to post.
LOCK TABLE spend_totals IN ACCESS EXCLUSIVE MODE;

INSERT INTO spend_by_day (account_id, day, key_id, writer, spent_nano_usd)
SELECT account_id, (hour AT TIME ZONE 'UTC')::date, key_id, writer, sum(cost_nano_usd)
FROM usage_rollups WHERE cost_nano_usd > 0 GROUP BY 1, 2, 3, 4;

DROP TABLE spend_totals;

-- Under `key:<id>`, `day:<account>:<date>` or `month:<account>:<month>`, capped or not.
CREATE FUNCTION spent_under(scope text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  kind text := split_part(scope, ':', 1);
  owner uuid := split_part(scope, ':', 2)::uuid;
  first_day date;
BEGIN
  IF kind = 'key' THEN
    RETURN coalesce((SELECT sum(spent_nano_usd) FROM spend_by_day WHERE key_id = owner), 0);
  END IF;
  first_day := to_date(split_part(scope, ':', 3), 'YYYY-MM-DD');
  RETURN coalesce((
    SELECT sum(spent_nano_usd) FROM spend_by_day
    WHERE account_id = owner AND day >= first_day AND day < first_day + format('1 %s', kind)::interval), 0);
END $$;

ALTER TABLE ledger_entries ALTER COLUMN account_id DROP NOT NULL,
  ADD CONSTRAINT ledger_entries_account_check CHECK (account_id IS NOT NULL OR book = 'revenue'),
  DROP CONSTRAINT ledger_entries_key_book_key;

CREATE UNIQUE INDEX ledger_entries_once ON ledger_entries (key, book) WHERE kind <> 'charge';

DROP INDEX ledger_entries_by_account;
CREATE INDEX ledger_entries_by_account ON ledger_entries (account_id, id) WHERE book = 'credit';
