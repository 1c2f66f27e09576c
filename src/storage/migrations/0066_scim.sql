-- What a directory writes by SCIM: its tokens, the people and groups that it manages, and what it could not write.
-- Breaks nothing: new tables and columns. A process of the release before lets somebody rename a managed group.

CREATE TABLE scim_tokens (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name text NOT NULL,
  -- SHA-256. The token itself is shown once.
  token_hash bytea NOT NULL UNIQUE,
  token_prefix text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  last_used_at timestamptz
);

CREATE INDEX scim_tokens_by_account ON scim_tokens (account_id, id);

-- A member of an account as its directory writes them. Whoever leaves the account is gone here too.
CREATE TABLE scim_users (
  -- The id in SCIM, which stays when the person gets another address.
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  user_id uuid NOT NULL,
  user_name text NOT NULL,
  external_id text,
  display_name text,
  -- The addresses in lower case, to find them.
  emails text[] NOT NULL,
  -- The names and addresses as they were written.
  attributes jsonb NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (account_id, user_id),
  FOREIGN KEY (account_id, user_id) REFERENCES account_members (account_id, user_id) ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE UNIQUE INDEX scim_users_by_name ON scim_users (account_id, lower(user_name));
CREATE INDEX scim_users_by_account ON scim_users (account_id, id);
CREATE INDEX scim_users_by_external_id ON scim_users (account_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX scim_users_by_email ON scim_users USING gin (emails);

ALTER TABLE groups
  -- The directory says its name and who is in it.
  ADD COLUMN is_scim_managed boolean NOT NULL DEFAULT false,
  ADD COLUMN scim_external_id text,
  ADD COLUMN scim_version integer NOT NULL DEFAULT 1,
  ADD COLUMN scim_updated_at timestamptz;

CREATE INDEX groups_by_scim_external_id ON groups (account_id, scim_external_id) WHERE scim_external_id IS NOT NULL;

-- The last writes of a directory that failed, for whoever looks why somebody is missing.
CREATE TABLE scim_failures (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  token_id uuid NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  status smallint NOT NULL,
  detail text NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE INDEX scim_failures_by_account ON scim_failures (account_id, id);
