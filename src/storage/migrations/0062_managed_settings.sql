-- The settings that an account gives the agents of its people, such as Claude Code: one for everybody and one for each group.
-- Breaks nothing: a new table.

CREATE TABLE managed_settings (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- Null for everybody in the account.
  group_id uuid,
  -- 1 decides.
  priority integer NOT NULL CHECK (priority >= 1),
  settings jsonb NOT NULL CHECK (jsonb_typeof(settings) = 'object'),
  updated_at timestamptz NOT NULL,
  FOREIGN KEY (account_id, group_id) REFERENCES groups (account_id, id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX managed_settings_by_group ON managed_settings (account_id, coalesce(group_id, account_id));
CREATE INDEX managed_settings_of_group ON managed_settings (account_id, group_id) WHERE group_id IS NOT NULL;
