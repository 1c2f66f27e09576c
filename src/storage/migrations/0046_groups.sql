-- Groups of people in an account, and what they may do in its projects.
-- Breaks nothing: new tables. A process of the release before does not know that a group lets somebody into a project, and refuses their keys there.

CREATE TABLE groups (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (account_id, id)
);

CREATE UNIQUE INDEX groups_by_name ON groups (account_id, lower(name));

CREATE TABLE group_members (
  group_id uuid NOT NULL,
  account_id uuid NOT NULL,
  user_id uuid NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (group_id, user_id),
  FOREIGN KEY (account_id, group_id) REFERENCES groups (account_id, id) ON DELETE CASCADE,
  -- Whoever leaves the account leaves its groups.
  FOREIGN KEY (account_id, user_id) REFERENCES account_members (account_id, user_id) ON DELETE CASCADE
);

CREATE INDEX group_members_by_user ON group_members (account_id, user_id);

CREATE TABLE project_groups (
  project_id uuid NOT NULL,
  account_id uuid NOT NULL,
  group_id uuid NOT NULL,
  role text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, group_id),
  FOREIGN KEY (account_id, project_id) REFERENCES projects (account_id, id) ON DELETE CASCADE,
  FOREIGN KEY (account_id, group_id) REFERENCES groups (account_id, id) ON DELETE CASCADE
);

CREATE INDEX project_groups_by_group ON project_groups (group_id);
