-- One-time codes of sign-in links, with which an operator signs in to the console without a key.
-- Breaks nothing: a new table.

CREATE TABLE sign_in_codes (
  -- Only a hash is stored: reading this table does not help to sign in.
  code_hash bytea PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  key_id uuid NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
