-- The audit log of an account: who changed its people, projects, keys and limits.
-- Breaks nothing: a new table. What a process of the release before changes meanwhile is not in it.

CREATE TABLE account_changes (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  -- Null: of the account as a whole.
  project_id uuid,
  -- `project.created`
  type text NOT NULL,
  -- As clients know it: `proj_…`.
  resource_id text NOT NULL,
  details jsonb NOT NULL,
  -- All null: the operator or the gateway did it.
  actor_key_id uuid,
  actor_session_id uuid,
  actor_user_id uuid,
  actor_service_account_id uuid,
  -- As it was then.
  actor_email text,
  created_at timestamptz NOT NULL
);

CREATE INDEX account_changes_by_account ON account_changes (account_id, id);

CREATE FUNCTION refuse_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'entries of the audit log are never changed';
END $$;

CREATE TRIGGER account_changes_are_kept BEFORE UPDATE OR DELETE ON account_changes
  FOR EACH ROW EXECUTE FUNCTION refuse_account_change();
