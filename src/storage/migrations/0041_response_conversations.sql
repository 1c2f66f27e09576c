-- Conversations of OpenAI's Responses wire: lists of items that responses continue and add to.
-- Breaks nothing: new tables. Their bytes count as those of stored responses.

CREATE TABLE response_conversations (
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- `conv_…`
  id text NOT NULL,
  -- JSON as text, because JSONB cannot hold U+0000.
  metadata text NOT NULL,
  -- How many items were ever added, which is the position of the last one.
  added bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Later with every item that is added.
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE INDEX response_conversations_by_expiry ON response_conversations (expires_at);

CREATE TABLE response_conversation_items (
  account_id uuid NOT NULL,
  conversation_id text NOT NULL,
  position bigint NOT NULL,
  id text NOT NULL,
  -- JSON as text, for the same reason.
  item text NOT NULL,
  PRIMARY KEY (account_id, conversation_id, position),
  FOREIGN KEY (account_id, conversation_id) REFERENCES response_conversations (account_id, id) ON DELETE CASCADE
);

CREATE INDEX response_conversation_items_by_id ON response_conversation_items (account_id, conversation_id, id);

-- A row costs more than its text, so that empty ones are bounded too.
CREATE FUNCTION response_conversation_bytes(stored text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT (octet_length(stored) + 256)::bigint
$$;

CREATE FUNCTION count_response_conversation_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO stored_byte_changes (account_id, kind, bytes)
    SELECT account_id, 'response', -sum(response_conversation_bytes(metadata)) FROM removed GROUP BY account_id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO stored_byte_changes (account_id, kind, bytes)
    SELECT account_id, 'response', sum(response_conversation_bytes(metadata)) FROM added GROUP BY account_id;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER response_conversation_bytes_added AFTER INSERT ON response_conversations
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_response_conversation_bytes();
CREATE TRIGGER response_conversation_bytes_changed AFTER UPDATE ON response_conversations
  REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_response_conversation_bytes();
CREATE TRIGGER response_conversation_bytes_removed AFTER DELETE ON response_conversations
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_response_conversation_bytes();

CREATE FUNCTION count_response_conversation_item_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO stored_byte_changes (account_id, kind, bytes)
    SELECT account_id, 'response', sum(response_conversation_bytes(item)) FROM added GROUP BY account_id;
  ELSE
    INSERT INTO stored_byte_changes (account_id, kind, bytes)
    SELECT account_id, 'response', -sum(response_conversation_bytes(item)) FROM removed GROUP BY account_id;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER response_conversation_item_bytes_added AFTER INSERT ON response_conversation_items
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_response_conversation_item_bytes();
CREATE TRIGGER response_conversation_item_bytes_removed AFTER DELETE ON response_conversation_items
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_response_conversation_item_bytes();
