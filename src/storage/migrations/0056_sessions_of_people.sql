-- How a person signed in: a person may have a directory or a passkey instead of a key.
-- Breaks nothing: new columns. A process of the release before starts sessions with a key, which is the default.

ALTER TABLE sessions
  ADD COLUMN method text NOT NULL DEFAULT 'key' CHECK (method IN ('key', 'link', 'invitation', 'directory', 'passkey')),
  -- The address that the person signed in from.
  ADD COLUMN ip_address text,
  -- The provider that the person signed in at, and its own session (`sid`), with which it can end this one.
  ADD COLUMN issuer_id uuid,
  ADD COLUMN issuer_session text;

CREATE INDEX sessions_by_issuer ON sessions (issuer_id, issuer_session) WHERE issuer_id IS NOT NULL;
