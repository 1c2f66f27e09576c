-- Sessions of people who signed in with an API key in a browser.
-- Breaks nothing: a new table. A process of the release before does not know sessions and refuses their cookies.

CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  -- Only a hash is stored: reading this table does not help to take a session over.
  token_hash bytea NOT NULL UNIQUE,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  key_id uuid NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  user_agent text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  -- When the API key was last entered.
  confirmed_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);

CREATE INDEX sessions_by_key ON sessions (account_id, key_id, id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
