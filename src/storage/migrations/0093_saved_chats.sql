-- Prompts and conversations that people keep, sealed.
-- Breaks nothing: a new table.

CREATE TABLE saved_chats (
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  -- Null for the project `Default`.
  project_id uuid,
  -- The person whose it is, or the key of the account if nobody is behind it.
  owner_id uuid NOT NULL,
  user_id uuid,
  kind text NOT NULL CHECK (kind IN ('prompt', 'conversation')),
  -- Whether everybody in the project reads it.
  is_shared boolean NOT NULL,
  -- Encrypted for this row; the content is compressed first.
  name bytea NOT NULL,
  content bytea NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- Null for what is kept until it is deleted.
  expires_at timestamptz,
  PRIMARY KEY (account_id, id),
  -- What somebody kept goes with them.
  FOREIGN KEY (account_id, user_id) REFERENCES account_members (account_id, user_id) ON DELETE CASCADE
);

CREATE INDEX saved_chats_by_owner ON saved_chats (account_id, owner_id, kind, updated_at);
CREATE INDEX saved_chats_by_user ON saved_chats (account_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX saved_chats_by_expiry ON saved_chats (expires_at) WHERE expires_at IS NOT NULL;
-- They are compressed already.
ALTER TABLE saved_chats ALTER COLUMN content SET STORAGE EXTERNAL;
