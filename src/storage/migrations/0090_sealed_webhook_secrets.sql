-- Secrets that sign webhooks are sealed with the gateway's key.
-- Breaks nothing: new columns. A process of the release before reads and writes the secrets in clear, so that they are sealed only when
-- none is left.

ALTER TABLE borrowers
  -- What the process can read and one of an earlier release cannot. Empty: a process of a release before this one.
  ADD COLUMN capabilities text[] NOT NULL DEFAULT '{}';

ALTER TABLE installation
  -- Until then a process of the release before may register, because it had found the schema current before this migration.
  ADD COLUMN processes_settled_at timestamptz NOT NULL DEFAULT '-infinity';
UPDATE installation SET processes_settled_at = now() + interval '10 minutes' WHERE EXISTS (SELECT FROM borrowers);

ALTER TABLE webhook_secrets
  ALTER COLUMN secret DROP NOT NULL,
  ADD COLUMN sealed_secret bytea,
  ADD COLUMN sealed_previous_secret bytea,
  ADD CHECK (secret IS NOT NULL OR sealed_secret IS NOT NULL);
CREATE INDEX webhook_secrets_in_clear ON webhook_secrets (account_id) WHERE secret IS NOT NULL OR previous_secret IS NOT NULL;
