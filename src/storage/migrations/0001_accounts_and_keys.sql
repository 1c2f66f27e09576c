-- Accounts and the keys that speak for them.
-- Breaks nothing: first migration.

CREATE TABLE accounts (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  -- Nano-dollars, because one token can cost less than a micro-dollar and sums must be exact.
  balance_nano_usd bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name text NOT NULL,
  environment text NOT NULL CHECK (environment IN ('live', 'prod', 'staging', 'test', 'dev')),
  -- Only a hash is kept: who reads this table cannot call the gateway. Unique, because it is how a key is found.
  key_hash bytea NOT NULL UNIQUE,
  -- The first characters as they were shown once, so that a person can tell keys apart.
  key_prefix text NOT NULL,
  scopes text[] NOT NULL,
  -- Null allows every model; an empty list allows none.
  allowed_models text[],
  limit_nano_usd bigint CHECK (limit_nano_usd >= 0),
  requests_per_minute int CHECK (requests_per_minute > 0),
  expires_at timestamptz,
  -- Revoked keys stay, so that what they were used for can still be told.
  revoked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz
);

-- Lists page by id within an account; ids sort by creation time.
CREATE INDEX api_keys_by_account ON api_keys (account_id, id);
