-- Bodies of requests and answers, where the operator or an account wants them stored. Off unless switched on.
-- Breaks nothing: new tables, and a further kind of stored bytes.

CREATE TABLE body_policies (
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- The id of the account for all of its keys, or of one key.
  scope_id uuid NOT NULL,
  is_on boolean NOT NULL,
  retention_days integer NOT NULL CHECK (retention_days BETWEEN 1 AND 3650),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, scope_id)
);

CREATE TABLE request_bodies (
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  key_id uuid NOT NULL,
  -- Compressed, then encrypted for this row.
  request bytea NOT NULL,
  answer bytea NOT NULL,
  -- Of what was sent, before it was cut.
  request_bytes bigint NOT NULL,
  answer_bytes bigint NOT NULL,
  is_request_cut boolean NOT NULL,
  is_answer_cut boolean NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE INDEX request_bodies_by_expiry ON request_bodies (expires_at);
CREATE INDEX request_bodies_by_key ON request_bodies (key_id);
-- They are compressed already.
ALTER TABLE request_bodies ALTER COLUMN request SET STORAGE EXTERNAL, ALTER COLUMN answer SET STORAGE EXTERNAL;

ALTER TABLE stored_bytes DROP CONSTRAINT stored_bytes_kind_check;
ALTER TABLE stored_bytes ADD CONSTRAINT stored_bytes_kind_check
  CHECK (kind IN ('media', 'dataset', 'task', 'stored_response', 'response', 'request_body')) NOT VALID;

CREATE FUNCTION count_request_body_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO stored_byte_changes (account_id, kind, bytes)
    SELECT account_id, 'request_body', sum(octet_length(request) + octet_length(answer)) FROM added GROUP BY account_id;
  ELSE
    INSERT INTO stored_byte_changes (account_id, kind, bytes)
    SELECT account_id, 'request_body', -sum(octet_length(request) + octet_length(answer)) FROM removed GROUP BY account_id;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER request_body_bytes_added AFTER INSERT ON request_bodies
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_request_body_bytes();
CREATE TRIGGER request_body_bytes_removed AFTER DELETE ON request_bodies
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_request_body_bytes();
