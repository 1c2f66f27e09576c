-- Issuers of tokens that a project trusts: whoever has a token of theirs gets one of a service account.
-- Breaks nothing: new tables.

CREATE TABLE trusted_issuers (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  project_id uuid NOT NULL,
  name text NOT NULL,
  issuer text NOT NULL,
  audience text NOT NULL,
  algorithms text[] NOT NULL,
  -- The public keys of an issuer that cannot be reached from here.
  jwks jsonb,
  -- Claims, and the service account that whoever has them becomes.
  rules jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  FOREIGN KEY (account_id, project_id) REFERENCES projects (account_id, id) ON DELETE CASCADE
);

CREATE INDEX trusted_issuers_by_project ON trusted_issuers (project_id, id);
CREATE INDEX trusted_issuers_by_account ON trusted_issuers (account_id, project_id);

-- Tokens of rules that take each only once, until they expire.
CREATE TABLE exchanged_tokens (
  issuer_id uuid NOT NULL REFERENCES trusted_issuers (id) ON DELETE CASCADE,
  token_hash bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (issuer_id, token_hash)
);

CREATE INDEX exchanged_tokens_by_expiry ON exchanged_tokens (expires_at);
