-- Files of accounts: what they gave for long work, and what upstreams made. The bytes lie in the media store.
-- Breaks nothing: new tables.

CREATE TABLE media (
  id uuid PRIMARY KEY,
  -- No reference is checked: accounts are never deleted.
  account_id uuid NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('input', 'result')),
  kind text NOT NULL CHECK (kind IN ('image', 'video', 'audio')),
  content_type text NOT NULL,
  store_key text NOT NULL,
  -- Null while the file is being written. The row is there before the file, so that no file is ever without one.
  bytes bigint CHECK (bytes >= 0),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Who removes it took it then; another may when that was long ago.
  removing_at timestamptz
);

CREATE INDEX media_by_expiry ON media (expires_at);

-- Signs the addresses of files, for every process the same. Made by the first one that needs it.
CREATE TABLE media_secret (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  secret bytea NOT NULL CHECK (octet_length(secret) = 32),
  created_at timestamptz NOT NULL DEFAULT now()
);
