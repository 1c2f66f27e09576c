-- Roles that an account or a project makes itself, who has which roles, and who operates the gateway.
-- Breaks nothing: new tables. A process of the release before does not know these roles, and gives their people what it knows.

CREATE TABLE roles (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- Null: of the account.
  project_id uuid,
  name text NOT NULL,
  description text,
  permissions text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (account_id, id),
  FOREIGN KEY (account_id, project_id) REFERENCES projects (account_id, id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX roles_by_name ON roles (account_id, coalesce(project_id, '00000000-0000-0000-0000-000000000000'), lower(name));

-- Roles that people and groups have beside the one of their membership.
CREATE TABLE role_assignments (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  -- Null: in the account.
  project_id uuid,
  user_id uuid,
  group_id uuid,
  -- An own role, or the name of a predefined one.
  role_id uuid,
  role_name text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(user_id, group_id) = 1),
  CHECK (num_nonnulls(role_id, role_name) = 1),
  FOREIGN KEY (account_id, role_id) REFERENCES roles (account_id, id) ON DELETE CASCADE,
  -- Whoever leaves the account, the project or the group loses its roles.
  FOREIGN KEY (account_id, user_id) REFERENCES account_members (account_id, user_id) ON DELETE CASCADE,
  FOREIGN KEY (account_id, group_id) REFERENCES groups (account_id, id) ON DELETE CASCADE,
  FOREIGN KEY (project_id, user_id) REFERENCES project_members (project_id, user_id) ON DELETE CASCADE,
  FOREIGN KEY (project_id, group_id) REFERENCES project_groups (project_id, group_id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX role_assignments_once ON role_assignments (account_id, coalesce(user_id, group_id),
  coalesce(project_id, '00000000-0000-0000-0000-000000000000'), coalesce(role_id::text, role_name));
CREATE INDEX role_assignments_by_group ON role_assignments (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX role_assignments_by_role ON role_assignments (role_id) WHERE role_id IS NOT NULL;

-- People who operate the gateway, as members of one account: whoever invites their address to another account gains nothing.
CREATE TABLE operators (
  account_id uuid NOT NULL,
  user_id uuid NOT NULL,
  role text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, user_id),
  FOREIGN KEY (account_id, user_id) REFERENCES account_members (account_id, user_id) ON DELETE CASCADE
);

-- The person who invited. Null: a key of the account itself. Whoever loses what the invitation gives takes it along.
ALTER TABLE invites ADD COLUMN invited_by uuid REFERENCES users (id) ON DELETE SET NULL;
