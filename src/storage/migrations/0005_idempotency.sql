-- Answers to POSTs that carried an `Idempotency-Key`, so that a repeated request is answered again and not done again.
-- Breaks nothing: a new table.

CREATE TABLE idempotency_keys (
  -- No reference is checked: accounts are never deleted, and rows live for a day.
  account_id uuid NOT NULL,
  -- Only hashes are kept of the key and of the request. The answer is sealed with what both of them say, so that who reads
  -- this table, or a backup of it, learns nothing of either.
  key_hash bytea NOT NULL,
  fingerprint bytea NOT NULL,
  -- Of the first run. A run that takes over from one that died goes on under the same id, so that it is charged once.
  request_id text NOT NULL,
  -- Who runs it now: a run that was taken over may no longer say how it ended.
  run_id uuid NOT NULL,
  claimed_at timestamptz NOT NULL,
  -- Renewed while it runs. When it passes without an answer, the next request with the key takes over.
  lease_until timestamptz NOT NULL,
  answer bytea,
  -- The answer was too large to keep.
  is_unkept boolean NOT NULL DEFAULT false,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, key_hash)
);

CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);

-- Sealed bytes do not compress.
ALTER TABLE idempotency_keys ALTER COLUMN answer SET STORAGE EXTERNAL;
