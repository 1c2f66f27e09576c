-- Responses that are stored for their accounts: what was asked, what was answered, and the events of those in the background.
-- Breaks nothing: new tables, one more kind of stored bytes and one more type of task. A worker of the release before cannot do such a
-- task and hands it back, so update workers before clients ask for responses in the background.

ALTER TABLE stored_bytes DROP CONSTRAINT stored_bytes_kind_check;
ALTER TABLE stored_bytes ADD CONSTRAINT stored_bytes_kind_check
  CHECK (kind IN ('media', 'dataset', 'task', 'stored_response', 'response'));

CREATE TABLE responses (
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- `resp_` and the digits of the request that made it.
  id text NOT NULL,
  -- The response that it continues. That one may be gone.
  previous_id text,
  -- JSON as text, because JSONB cannot hold U+0000: the new input items, without those of the responses before.
  input text NOT NULL,
  -- The same: the response object.
  response text NOT NULL,
  -- Of its output items, for references to them.
  item_ids text[] NOT NULL,
  -- Its status is that of the task of the same request.
  is_background boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE INDEX responses_by_expiry ON responses (expires_at);
-- What continues a response keeps it from being swept.
CREATE INDEX responses_by_previous ON responses (account_id, previous_id) WHERE previous_id IS NOT NULL;
CREATE INDEX responses_by_item ON responses USING gin (item_ids);

CREATE FUNCTION response_bytes(input text, response text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT (octet_length(input) + octet_length(response))::bigint
$$;

-- One change an account and statement: responses are written in batches.
CREATE FUNCTION count_response_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO stored_byte_changes (account_id, kind, bytes)
    SELECT account_id, 'response', -sum(response_bytes(input, response)) FROM removed GROUP BY account_id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO stored_byte_changes (account_id, kind, bytes)
    SELECT account_id, 'response', sum(response_bytes(input, response)) FROM added GROUP BY account_id;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER response_bytes_added AFTER INSERT ON responses
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_response_bytes();
CREATE TRIGGER response_bytes_changed AFTER UPDATE ON responses
  REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_response_bytes();
CREATE TRIGGER response_bytes_removed AFTER DELETE ON responses
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_response_bytes();

-- Events of a response in the background that is streamed, for who reads them later or again.
CREATE TABLE response_events (
  account_id uuid NOT NULL,
  response_id text NOT NULL,
  -- Of the first event of the row.
  sequence integer NOT NULL,
  -- Events that were written together, each a line of JSON.
  events text NOT NULL,
  PRIMARY KEY (account_id, response_id, sequence),
  FOREIGN KEY (account_id, response_id) REFERENCES responses (account_id, id) ON DELETE CASCADE
);

CREATE FUNCTION count_response_event_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO stored_byte_changes (account_id, kind, bytes)
    SELECT account_id, 'response', sum(octet_length(events)) FROM added GROUP BY account_id;
  ELSE
    INSERT INTO stored_byte_changes (account_id, kind, bytes)
    SELECT account_id, 'response', -sum(octet_length(events)) FROM removed GROUP BY account_id;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER response_event_bytes_added AFTER INSERT ON response_events
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_response_event_bytes();
CREATE TRIGGER response_event_bytes_removed AFTER DELETE ON response_events
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_response_event_bytes();

-- Not checked against rows that a narrower rule has let in.
ALTER TABLE tasks DROP CONSTRAINT tasks_type_check;
ALTER TABLE tasks ADD CONSTRAINT tasks_type_check
  CHECK (type IN ('image', 'video', 'tts', 'music', 'stt', 'edit', 'upscale', 'bg_remove', 'response')) NOT VALID;
