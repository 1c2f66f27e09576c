-- People, the projects of an account, and who owns a key.
-- Breaks nothing: new tables, and new columns that are null for what exists. Null means: a key of the account itself, and a row of the
-- project `Default`. So a process of the release before goes on reading and writing beside this one.

CREATE TABLE users (
  id uuid PRIMARY KEY,
  -- As the person writes it. No two users have the same in another case.
  email text NOT NULL,
  name text,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'deactivated')),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX users_by_email ON users (lower(email));

CREATE TABLE account_members (
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role text NOT NULL,
  -- As the person is called in this account: another account must not learn it by inviting the e-mail address.
  name text,
  added_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, user_id)
);

CREATE INDEX account_members_by_user ON account_members (user_id);

CREATE TABLE projects (
  -- That of `Default` is the id of its account, so that nothing has to be looked up to name it.
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name text NOT NULL,
  -- An archived project stays for its history. Its keys are refused.
  archived_at timestamptz CHECK (archived_at IS NULL OR id <> account_id),
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (account_id, id)
);

INSERT INTO projects (id, account_id, name, created_at) SELECT id, id, 'Default', created_at FROM accounts;

-- A trigger, because a process of the release before creates accounts too.
CREATE FUNCTION create_default_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO projects (id, account_id, name, created_at) VALUES (NEW.id, NEW.id, 'Default', NEW.created_at)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER default_project AFTER INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION create_default_project();

CREATE TABLE project_members (
  project_id uuid NOT NULL,
  account_id uuid NOT NULL,
  user_id uuid NOT NULL,
  role text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, user_id),
  FOREIGN KEY (account_id, project_id) REFERENCES projects (account_id, id) ON DELETE CASCADE,
  -- Whoever leaves the account leaves its projects.
  FOREIGN KEY (account_id, user_id) REFERENCES account_members (account_id, user_id) ON DELETE CASCADE
);

CREATE INDEX project_members_by_user ON project_members (account_id, user_id);

-- Owners of keys that are not people: a program, a pipeline.
CREATE TABLE service_accounts (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  project_id uuid NOT NULL,
  name text NOT NULL,
  role text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- A deleted one stays, because usage is told by its name. Its keys are refused.
  deleted_at timestamptz,
  FOREIGN KEY (account_id, project_id) REFERENCES projects (account_id, id) ON DELETE CASCADE
);

CREATE INDEX service_accounts_by_project ON service_accounts (project_id, id) WHERE deleted_at IS NULL;

CREATE TABLE invites (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  email text NOT NULL,
  role text NOT NULL,
  -- `[{id, role}]`
  projects jsonb NOT NULL DEFAULT '[]',
  -- Of the key of their sessions: that of whoever invited.
  environment text NOT NULL,
  -- Only a hash is stored: reading this table does not help to join an account.
  code_hash bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  accepted_by uuid REFERENCES users (id) ON DELETE SET NULL
);

CREATE INDEX invites_by_account ON invites (account_id, id);

ALTER TABLE api_keys
  -- The only project whose rows the key sees. Null: the key is the account's own, works in `Default` and sees the whole account.
  ADD COLUMN project_id uuid,
  -- The person or service account that it belongs to. Both null: the account itself.
  ADD COLUMN user_id uuid REFERENCES users (id) ON DELETE CASCADE,
  ADD COLUMN service_account_id uuid REFERENCES service_accounts (id) ON DELETE CASCADE,
  -- The key that stands for a person in sessions. Nobody knows its secret.
  ADD COLUMN is_of_sessions boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT api_keys_project FOREIGN KEY (account_id, project_id) REFERENCES projects (account_id, id),
  ADD CONSTRAINT api_keys_one_owner CHECK (user_id IS NULL OR service_account_id IS NULL);

CREATE INDEX api_keys_by_project ON api_keys (account_id, project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX api_keys_by_user ON api_keys (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX api_keys_by_service_account ON api_keys (service_account_id) WHERE service_account_id IS NOT NULL;
CREATE UNIQUE INDEX api_keys_of_sessions ON api_keys (account_id, user_id, coalesce(project_id, account_id)) WHERE is_of_sessions;

-- The projects of what is made with keys. Null: `Default`.
ALTER TABLE tasks ADD COLUMN project_id uuid;
ALTER TABLE media ADD COLUMN project_id uuid;
ALTER TABLE responses ADD COLUMN project_id uuid;
ALTER TABLE response_conversations ADD COLUMN project_id uuid;
ALTER TABLE compare_datasets ADD COLUMN project_id uuid;
ALTER TABLE compare_conversations ADD COLUMN project_id uuid;
ALTER TABLE compare_runs ADD COLUMN project_id uuid;
ALTER TABLE deployments ADD COLUMN project_id uuid;

-- For the lists of a project. Rows of `Default` are mostly without an id, and found by their account.
CREATE INDEX tasks_by_project ON tasks (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX compare_datasets_by_project ON compare_datasets (project_id, id) WHERE project_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX compare_conversations_by_project ON compare_conversations (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX compare_runs_by_project ON compare_runs (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX deployments_by_project ON deployments (project_id, id) WHERE project_id IS NOT NULL;
