-- Tools that a person signed in, and short-lived access tokens, which work like keys until they expire.
-- Breaks nothing: new tables and a new column. A process of the release before refuses access tokens as malformed keys.

ALTER TABLE api_keys
  -- The hidden key that stands for the owner of access tokens in one place. Nobody knows its secret.
  ADD COLUMN is_of_tokens boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT api_keys_of_tokens_are_hidden CHECK (NOT is_of_tokens OR is_of_sessions AND num_nonnulls(user_id, service_account_id) = 1);

DROP INDEX api_keys_of_sessions;
CREATE UNIQUE INDEX api_keys_of_sessions ON api_keys (account_id, user_id, coalesce(project_id, account_id))
  WHERE is_of_sessions AND origin_key_id IS NULL AND NOT is_of_tokens;
CREATE UNIQUE INDEX api_keys_of_tokens ON api_keys (account_id, coalesce(user_id, service_account_id), coalesce(project_id, account_id))
  WHERE is_of_tokens;

-- A tool that a person signed in on a device. It belongs to the membership, so it opens this account only and ends when the person leaves it.
CREATE TABLE grants (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  user_id uuid NOT NULL,
  -- Where it works. Null: in the whole account.
  project_id uuid REFERENCES projects (id) ON DELETE CASCADE,
  key_id uuid NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  -- As the tool names itself. Nothing proves it.
  client_id text NOT NULL,
  -- Of the tool when it asked.
  ip_address text,
  user_agent text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When it last got an access token.
  last_used_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  FOREIGN KEY (account_id, user_id) REFERENCES account_members (account_id, user_id) ON DELETE CASCADE
);

CREATE INDEX grants_by_member ON grants (account_id, user_id);
CREATE INDEX grants_by_key ON grants (key_id);

CREATE TABLE access_tokens (
  token_hash bytea PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  key_id uuid NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  -- Null for a token that was exchanged for another one, which nothing can refresh.
  grant_id uuid REFERENCES grants (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);

CREATE INDEX access_tokens_by_key ON access_tokens (key_id, created_at);
CREATE INDEX access_tokens_by_grant ON access_tokens (grant_id, created_at) WHERE grant_id IS NOT NULL;
CREATE INDEX access_tokens_by_expiry ON access_tokens (expires_at);
