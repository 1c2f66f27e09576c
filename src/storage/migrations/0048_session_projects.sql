-- A session in a browser can continue in another project of its account.
-- Breaks nothing: new columns that are null for what exists. A process of the release before leaves such a session where its key works.

ALTER TABLE api_keys
  -- The key that a session began with, of which this is the hidden key in a project. It has the rights of that key, and ends with it.
  ADD COLUMN origin_key_id uuid REFERENCES api_keys (id) ON DELETE CASCADE;

CREATE UNIQUE INDEX api_keys_by_origin ON api_keys (origin_key_id, project_id) WHERE origin_key_id IS NOT NULL;

-- A person has one hidden key in each place, besides those that follow from another key.
DROP INDEX api_keys_of_sessions;
CREATE UNIQUE INDEX api_keys_of_sessions ON api_keys (account_id, user_id, coalesce(project_id, account_id))
  WHERE is_of_sessions AND origin_key_id IS NULL;

ALTER TABLE sessions
  -- The project that the session continues in, and its key there. Null: where the key that it began with works.
  ADD COLUMN project_id uuid,
  ADD COLUMN project_key_id uuid REFERENCES api_keys (id) ON DELETE CASCADE;

CREATE INDEX sessions_by_project_key ON sessions (project_key_id) WHERE project_key_id IS NOT NULL;
