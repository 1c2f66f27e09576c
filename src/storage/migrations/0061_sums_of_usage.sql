-- Sums of usage over days and fewer columns, so that a report of a month over many keys and models reads few rows.
-- Breaks nothing: new tables, which are filled later, and triggers that also notice what processes of the release before write.

-- Made from `usage_rollups` and `usage_by_label`, and never changed: the sums of a day are deleted and made again.
CREATE TABLE usage_sums (
  account_id uuid NOT NULL,
  -- By what it is added up. The columns that are not named are null.
  grain text COLLATE "C" NOT NULL,
  -- A day of UTC, or an hour of it.
  begins timestamptz NOT NULL,
  label text COLLATE "C",
  key_id uuid,
  model text,
  operation text NOT NULL,
  requests bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  units bigint NOT NULL,
  cost_nano_usd bigint NOT NULL,
  promotional_nano_usd bigint NOT NULL
);

CREATE INDEX usage_sums_by_account ON usage_sums (account_id, grain, begins);

-- The accounts that have sums: those with many rollups.
CREATE TABLE usage_sum_progress (
  account_id uuid PRIMARY KEY,
  -- Days before this one have sums, if they are not in `usage_stale_days`.
  summed_until date NOT NULL,
  -- Days before this one are added to `usage_stale_days` when their usage changes. Not before `summed_until`.
  watched_until date NOT NULL
);

-- Days whose usage changed after it was added up, or while. A day may have several rows:
-- whoever adds it up deletes those that it sees, and a row of a later change remains.
CREATE TABLE usage_stale_days (
  account_id uuid NOT NULL,
  day date NOT NULL
);

CREATE INDEX usage_stale_days_by_account ON usage_stale_days (account_id, day);

CREATE FUNCTION note_stale_days() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_stale_days (account_id, day)
  SELECT DISTINCT changed.account_id, (changed.hour AT TIME ZONE 'UTC')::date
  FROM changed JOIN usage_sum_progress progress ON progress.account_id = changed.account_id
  WHERE changed.hour < progress.watched_until::timestamp AT TIME ZONE 'UTC';
  RETURN NULL;
END $$;

-- A charge is inserted, and becomes an update if there is a row.
CREATE TRIGGER usage_rollups_added AFTER INSERT ON usage_rollups
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_stale_days();
CREATE TRIGGER usage_rollups_changed AFTER UPDATE ON usage_rollups
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_stale_days();
CREATE TRIGGER usage_by_label_added AFTER INSERT ON usage_by_label
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_stale_days();
CREATE TRIGGER usage_by_label_changed AFTER UPDATE ON usage_by_label
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_stale_days();
