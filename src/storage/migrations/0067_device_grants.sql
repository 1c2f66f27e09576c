-- Codes with which a device asks a person to sign it in, and the refresh tokens of signed-in tools.
-- Breaks nothing: new tables.

-- A code that a device shows. It belongs to nobody until a person approves or denies it.
CREATE TABLE device_codes (
  device_code_hash bytea PRIMARY KEY,
  user_code_hash bytea NOT NULL UNIQUE,
  -- As the tool names itself. Nothing proves it.
  client_id text NOT NULL,
  -- Of the device when it asked, and its network, in which pending codes are counted.
  ip_address text NOT NULL,
  network text NOT NULL,
  user_agent text NOT NULL,
  interval_seconds integer NOT NULL,
  polled_at timestamptz,
  -- Set when a person approves it; all null before.
  account_id uuid,
  user_id uuid,
  project_id uuid REFERENCES projects (id) ON DELETE CASCADE,
  environment text,
  grant_id uuid,
  denied_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  FOREIGN KEY (account_id, user_id) REFERENCES account_members (account_id, user_id) ON DELETE CASCADE
);

CREATE INDEX device_codes_by_network ON device_codes (network, expires_at);
CREATE INDEX device_codes_by_expiry ON device_codes (expires_at);

CREATE TABLE refresh_tokens (
  token_hash bytea PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  grant_id uuid NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  -- A token works once. Used ones stay, so that a stolen one is noticed.
  used_at timestamptz,
  -- With the token itself this gives its successor, which is stored nowhere.
  successor_salt bytea
);

CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id, created_at);

-- Wrong codes of people, by account and by person.
CREATE TABLE device_code_guesses (
  scope text PRIMARY KEY,
  failures integer NOT NULL,
  window_ends_at timestamptz NOT NULL
);
