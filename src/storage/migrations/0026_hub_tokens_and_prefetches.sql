-- Tokens of accounts for the hub, encrypted, as long as their deployments start with them; and models that accounts download ahead.
-- Breaks nothing: new tables. A process of the release before starts deployments without their tokens and takes up no download.

CREATE TABLE deployment_tokens (
  deployment_id uuid PRIMARY KEY REFERENCES deployments (id) ON DELETE CASCADE,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- By a key that is not in the database.
  sealed bytea NOT NULL
);

CREATE TABLE model_prefetches (
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  huggingface_id text NOT NULL,
  commit text NOT NULL,
  -- What is downloaded: path, size and checksum of each file.
  files jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('downloading', 'complete', 'cancelled', 'failed')),
  size_bytes bigint NOT NULL CHECK (size_bytes >= 0),
  done_bytes bigint NOT NULL DEFAULT 0 CHECK (done_bytes >= 0),
  error_message text,
  -- Encrypted as above; only while it downloads.
  sealed_token bytea,
  -- Grows with each order, so that who works for an earlier one changes nothing.
  number integer NOT NULL DEFAULT 1,
  attempt integer NOT NULL DEFAULT 0,
  lease_owner uuid,
  lease_until timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, huggingface_id)
);

CREATE INDEX model_prefetches_by_lease ON model_prefetches (lease_until) WHERE status = 'downloading';
