-- How many bytes each account has stored, by kind, for its quotas.
-- Breaks nothing: new tables, kept by triggers, so that processes of the release before are counted too. Reads the rows of four tables once,
-- during which nobody writes to them.

CREATE TABLE stored_bytes (
  -- No reference is checked: accounts are never deleted.
  account_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('media', 'dataset', 'task', 'stored_response')),
  bytes bigint NOT NULL,
  PRIMARY KEY (account_id, kind)
);

-- What was added and removed since; folded into the table above now and then. Writers only append here, so that nobody waits for
-- another's transaction, and no two lock each other out.
CREATE TABLE stored_byte_changes (
  account_id uuid NOT NULL,
  kind text NOT NULL,
  bytes bigint NOT NULL
);

CREATE INDEX stored_byte_changes_by_account ON stored_byte_changes (account_id, kind);

CREATE FUNCTION stored_bytes_of(account uuid, wanted text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT bytes FROM stored_bytes WHERE account_id = account AND kind = wanted), 0)
    + coalesce((SELECT sum(bytes)::bigint FROM stored_byte_changes WHERE account_id = account AND kind = wanted), 0)
$$;

-- What the accounts have stored, with their locks held until the transaction ends: who checks a quota and adds to it is alone.
-- The locks are taken in one order, and the sums are read after them.
CREATE FUNCTION lock_stored_bytes(accounts uuid[], wanted text) RETURNS TABLE (account_id uuid, bytes bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  account uuid;
BEGIN
  FOR account IN SELECT DISTINCT one FROM unnest(accounts) AS one ORDER BY one LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended('stored_bytes:' || wanted || ':' || account::text, 0));
    RETURN QUERY SELECT account, stored_bytes_of(account, wanted);
  END LOOP;
END $$;

CREATE FUNCTION note_stored_bytes(account uuid, wanted text, change bigint) RETURNS void LANGUAGE sql AS $$
  INSERT INTO stored_byte_changes (account_id, kind, bytes)
  SELECT account, wanted, change WHERE account IS NOT NULL AND coalesce(change, 0) <> 0
$$;

CREATE FUNCTION count_media_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN PERFORM note_stored_bytes(OLD.account_id, 'media', -OLD.bytes); END IF;
  IF TG_OP <> 'DELETE' THEN PERFORM note_stored_bytes(NEW.account_id, 'media', NEW.bytes); END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER media_bytes_added AFTER INSERT ON media FOR EACH ROW
  WHEN (NEW.bytes IS NOT NULL) EXECUTE FUNCTION count_media_bytes();
CREATE TRIGGER media_bytes_changed AFTER UPDATE OF bytes ON media FOR EACH ROW
  WHEN (OLD.bytes IS DISTINCT FROM NEW.bytes) EXECUTE FUNCTION count_media_bytes();
CREATE TRIGGER media_bytes_removed AFTER DELETE ON media FOR EACH ROW
  WHEN (OLD.bytes IS NOT NULL) EXECUTE FUNCTION count_media_bytes();

CREATE FUNCTION count_answer_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    PERFORM note_stored_bytes(OLD.account_id, 'stored_response', -octet_length(OLD.answer));
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM note_stored_bytes(NEW.account_id, 'stored_response', octet_length(NEW.answer));
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER answer_bytes_added AFTER INSERT ON idempotency_keys FOR EACH ROW
  WHEN (NEW.answer IS NOT NULL) EXECUTE FUNCTION count_answer_bytes();
CREATE TRIGGER answer_bytes_changed AFTER UPDATE OF answer ON idempotency_keys FOR EACH ROW
  WHEN (OLD.answer IS NOT NULL OR NEW.answer IS NOT NULL) EXECUTE FUNCTION count_answer_bytes();
CREATE TRIGGER answer_bytes_removed AFTER DELETE ON idempotency_keys FOR EACH ROW
  WHEN (OLD.answer IS NOT NULL) EXECUTE FUNCTION count_answer_bytes();

-- By their text, which is the same whenever it is asked for: how much of it is compressed is not.
CREATE FUNCTION task_bytes(work jsonb, result jsonb, metadata jsonb) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT (CASE work WHEN 'null' THEN 0 ELSE coalesce(octet_length(work::text), 0) END
    + coalesce(octet_length(result::text), 0) + coalesce(octet_length(metadata::text), 0))::bigint
$$;

CREATE FUNCTION count_task_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  change bigint := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN change := change - task_bytes(OLD.work, OLD.result, OLD.metadata); END IF;
  IF TG_OP <> 'DELETE' THEN change := change + task_bytes(NEW.work, NEW.result, NEW.metadata); END IF;
  PERFORM note_stored_bytes(CASE TG_OP WHEN 'DELETE' THEN OLD.account_id ELSE NEW.account_id END, 'task', change);
  RETURN NULL;
END $$;

CREATE TRIGGER task_bytes_added AFTER INSERT OR DELETE ON tasks FOR EACH ROW EXECUTE FUNCTION count_task_bytes();
CREATE TRIGGER task_bytes_changed AFTER UPDATE OF work, result, metadata ON tasks FOR EACH ROW
  EXECUTE FUNCTION count_task_bytes();

-- Ended tasks give back what was asked and what was made when their time is over, however they ended.
CREATE INDEX tasks_with_work_by_expiry ON tasks (expires_at) WHERE work <> 'null'::jsonb;

CREATE FUNCTION count_dataset_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  dataset uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.dataset_id ELSE NEW.dataset_id END;
  change bigint := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN change := change - octet_length(OLD.prompts::text); END IF;
  IF TG_OP <> 'DELETE' THEN change := change + octet_length(NEW.prompts::text); END IF;
  PERFORM note_stored_bytes((SELECT account_id FROM compare_datasets WHERE id = dataset), 'dataset', change);
  RETURN NULL;
END $$;

CREATE TRIGGER dataset_bytes_counted AFTER INSERT OR UPDATE OR DELETE ON compare_dataset_versions FOR EACH ROW
  EXECUTE FUNCTION count_dataset_bytes();

CREATE FUNCTION remove_dataset_versions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM compare_dataset_versions WHERE dataset_id = NEW.id;
  RETURN NULL;
END $$;

-- A deleted dataset is not read again, and runs that were made of it have copies of their prompts.
CREATE TRIGGER dataset_versions_removed AFTER UPDATE OF deleted_at ON compare_datasets FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION remove_dataset_versions();

-- Creating a trigger keeps writers away until this is committed, so that nothing is counted twice or missed.
DELETE FROM compare_dataset_versions AS versions USING compare_datasets
WHERE compare_datasets.id = versions.dataset_id AND compare_datasets.deleted_at IS NOT NULL;
DELETE FROM stored_byte_changes;

INSERT INTO stored_bytes (account_id, kind, bytes)
SELECT account_id, 'media', sum(bytes) FROM media WHERE bytes IS NOT NULL GROUP BY account_id
UNION ALL
SELECT account_id, 'stored_response', sum(octet_length(answer)) FROM idempotency_keys WHERE answer IS NOT NULL
GROUP BY account_id
UNION ALL
SELECT account_id, 'task', sum(task_bytes(work, result, metadata)) FROM tasks GROUP BY account_id
UNION ALL
SELECT compare_datasets.account_id, 'dataset', sum(octet_length(prompts::text))
FROM compare_dataset_versions AS versions JOIN compare_datasets ON compare_datasets.id = versions.dataset_id
GROUP BY compare_datasets.account_id;
