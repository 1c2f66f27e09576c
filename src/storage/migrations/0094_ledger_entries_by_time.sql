-- The ledger of an account by time, with amounts, for its running balance.
-- Breaks nothing: an index. A large table gets it after the start, without a lock (storage/online-indexes.ts).

DO $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM ledger_entries OFFSET 100000 LIMIT 1) THEN
    CREATE INDEX IF NOT EXISTS ledger_entries_by_time ON ledger_entries (account_id, created_at, id)
      INCLUDE (amount_nano_usd) WHERE book = 'credit';
  END IF;
END $$;
