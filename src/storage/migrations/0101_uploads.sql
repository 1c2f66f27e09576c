-- Uploads in parts, and room that is taken before the bytes of a file arrive.
-- Breaks nothing: new tables, and columns without values. A process of the release before neither reads the content of a file in parts nor
-- loses its parts: they are marked for removal when the row of their file goes.

ALTER TABLE files ADD COLUMN mime_type text;
-- Its bytes lie in the store under the ids of its parts.
ALTER TABLE files ADD COLUMN is_in_parts boolean;

CREATE TABLE file_reservations (
  id uuid PRIMARY KEY,
  -- No reference is checked: accounts are never deleted.
  account_id uuid NOT NULL,
  -- Null for the project `Default`.
  project_id uuid,
  bytes bigint NOT NULL CHECK (bytes >= 0),
  -- Left behind by a process that died.
  expires_at timestamptz NOT NULL
);

CREATE INDEX file_reservations_by_account ON file_reservations (account_id);
CREATE INDEX file_reservations_by_expiry ON file_reservations (expires_at);

CREATE TRIGGER file_reservation_added AFTER INSERT ON file_reservations FOR EACH ROW EXECUTE FUNCTION count_file_bytes();
CREATE TRIGGER file_reservation_changed AFTER UPDATE OF bytes ON file_reservations FOR EACH ROW EXECUTE FUNCTION count_file_bytes();
CREATE TRIGGER file_reservation_removed AFTER DELETE ON file_reservations FOR EACH ROW EXECUTE FUNCTION count_file_bytes();

CREATE TABLE uploads (
  -- Also the id of its reservation.
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  project_id uuid,
  purpose text NOT NULL,
  filename text NOT NULL,
  mime_type text NOT NULL,
  -- Of the whole file, as declared.
  bytes bigint NOT NULL CHECK (bytes > 0),
  file_expires_after_seconds integer,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'completed', 'cancelled', 'expired')),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- How often a checksum was computed. Reading the whole file is work that nobody pays for.
  checksums integer NOT NULL DEFAULT 0,
  -- Of a completed one.
  part_ids uuid[],
  file_id uuid
);

CREATE INDEX uploads_by_expiry ON uploads (expires_at);

CREATE TABLE upload_parts (
  -- Also the key in the media store.
  id uuid PRIMARY KEY,
  upload_id uuid NOT NULL,
  -- What it may have at most, and has once it is stored.
  bytes bigint NOT NULL CHECK (bytes >= 0),
  is_stored boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  -- The file that it became a part of, and where in it the part is.
  file_id uuid,
  position integer,
  -- No file needs it any more since then. Whoever removes it from the store sets this again.
  removing_at timestamptz
);

CREATE INDEX upload_parts_by_upload ON upload_parts (upload_id);
CREATE INDEX upload_parts_by_file ON upload_parts (file_id, position) WHERE file_id IS NOT NULL;
CREATE INDEX upload_parts_by_removal ON upload_parts (removing_at) WHERE removing_at IS NOT NULL;

CREATE FUNCTION leave_parts_of_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- As if it had been claimed long ago: whoever comes first removes it.
  UPDATE upload_parts SET removing_at = now() - interval '1 day' WHERE file_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER parts_of_file_left AFTER DELETE ON files FOR EACH ROW
  WHEN (OLD.is_in_parts) EXECUTE FUNCTION leave_parts_of_file();
