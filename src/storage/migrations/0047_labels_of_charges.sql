-- The labels of charges: tags of requests and groups of their callers.
-- Breaks nothing: new tables, and new columns that are null for what exists. A process of the release before charges without labels.

-- `tag:name=value` and `group:<id>`.
ALTER TABLE usage_records ADD COLUMN labels text[];

-- Of work that outlives its request.
ALTER TABLE tasks ADD COLUMN labels text[];
ALTER TABLE compare_runs ADD COLUMN labels text[];
ALTER TABLE deployments ADD COLUMN labels text[];

-- Sums as in usage_rollups, once for each label of a charge. Charges without labels are not in here.
CREATE TABLE usage_by_label (
  account_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  label text COLLATE "C" NOT NULL,
  key_id uuid NOT NULL,
  model text NOT NULL,
  operation text NOT NULL,
  -- Each writer has its own rows, so that writers do not wait for each other.
  writer smallint NOT NULL,
  requests bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  cost_nano_usd bigint NOT NULL,
  promotional_nano_usd bigint NOT NULL,
  PRIMARY KEY (account_id, hour, label, key_id, model, operation, writer)
);

ALTER TABLE usage_by_label SET (fillfactor = 70);

-- The tags that have sums of their own, by the day of their charges. Their number is limited for each account and day.
CREATE TABLE usage_labels (
  account_id uuid NOT NULL,
  day date NOT NULL,
  label text COLLATE "C" NOT NULL,
  writer smallint NOT NULL,
  PRIMARY KEY (account_id, day, label, writer)
);

-- Whether a label always has sums of its own.
CREATE FUNCTION is_kept_label(account_id uuid, label text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT starts_with(label, 'group:')
$$;

-- Tags that requests with a key, or of a project, must have, and tags that they always get: `{name: value}`.
ALTER TABLE api_keys ADD COLUMN required_tags text[], ADD COLUMN fixed_tags jsonb;
ALTER TABLE projects ADD COLUMN required_tags text[], ADD COLUMN fixed_tags jsonb;
