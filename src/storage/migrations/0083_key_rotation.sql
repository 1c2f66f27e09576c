-- The secret that a key had before its last rotation, which works until its end.
-- The index has the rows without one too: a condition of it would keep PostgreSQL from using it for a list of hashes.
-- Breaks nothing: a process of the release before refuses the former secret, as it does not look for it.

ALTER TABLE api_keys
  ADD COLUMN former_key_hash bytea,
  ADD COLUMN former_key_prefix text,
  ADD COLUMN former_ends_at timestamptz,
  ADD CONSTRAINT api_keys_former_is_whole CHECK (
    (former_key_hash IS NULL) = (former_ends_at IS NULL) AND (former_key_hash IS NULL) = (former_key_prefix IS NULL)
  );

CREATE UNIQUE INDEX api_keys_by_former_hash ON api_keys (former_key_hash);
