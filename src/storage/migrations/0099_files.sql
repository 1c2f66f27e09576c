-- Files that clients upload, and files with the results of batches. The bytes lie in the media store.
-- Breaks nothing: a new table and one more kind of stored bytes.

ALTER TABLE stored_bytes DROP CONSTRAINT stored_bytes_kind_check;
ALTER TABLE stored_bytes ADD CONSTRAINT stored_bytes_kind_check
  CHECK (kind IN ('media', 'dataset', 'task', 'stored_response', 'response', 'request_body', 'file')) NOT VALID;

CREATE TABLE files (
  -- Also the key in the media store.
  id uuid PRIMARY KEY,
  -- No reference is checked: accounts are never deleted.
  account_id uuid NOT NULL,
  -- Null for the project `Default`.
  project_id uuid,
  purpose text NOT NULL,
  filename text NOT NULL,
  -- Null while the file is being written. The row is there before the file, so that no file is ever without one.
  bytes bigint CHECK (bytes >= 0),
  created_at timestamptz NOT NULL,
  -- Null for a file that is kept until it is deleted.
  expires_at timestamptz,
  -- It was deleted then, and nobody reads it any more. Whoever removes it from the store sets this again.
  removing_at timestamptz
);

CREATE INDEX files_by_account ON files (account_id, id);
CREATE INDEX files_by_expiry ON files (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX files_by_removal ON files (removing_at) WHERE removing_at IS NOT NULL;

CREATE FUNCTION count_file_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN PERFORM note_stored_bytes(OLD.account_id, 'file', -OLD.bytes); END IF;
  IF TG_OP <> 'DELETE' THEN PERFORM note_stored_bytes(NEW.account_id, 'file', NEW.bytes); END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER file_bytes_added AFTER INSERT ON files FOR EACH ROW
  WHEN (NEW.bytes IS NOT NULL) EXECUTE FUNCTION count_file_bytes();
CREATE TRIGGER file_bytes_changed AFTER UPDATE OF bytes ON files FOR EACH ROW
  WHEN (OLD.bytes IS DISTINCT FROM NEW.bytes) EXECUTE FUNCTION count_file_bytes();
CREATE TRIGGER file_bytes_removed AFTER DELETE ON files FOR EACH ROW
  WHEN (OLD.bytes IS NOT NULL) EXECUTE FUNCTION count_file_bytes();
