-- Sums of the usage of all accounts by day, so that operators read a month of all of them without the rollups of each, and what vendors
-- charge for requests with a label.
-- Breaks nothing: new tables, which are filled later, an index, a trigger that also notes what processes of the release before write, and
-- columns that are zero for what exists and for what such a process writes: the costs of their requests count as without the label.

-- Made from `usage_rollups`, and never changed: the sums of a day are deleted and made again.
CREATE TABLE gateway_usage_days (
  -- By what it is added up. The columns that are not named are null.
  grain text COLLATE "C" NOT NULL,
  -- The beginning of a day of UTC.
  day timestamptz NOT NULL,
  account_id uuid,
  key_id uuid,
  model text,
  provider text,
  environment text,
  requests bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  units bigint NOT NULL,
  cost_nano_usd bigint NOT NULL,
  promotional_nano_usd bigint NOT NULL,
  vendor_cost_nano_usd bigint NOT NULL,
  costed_requests bigint NOT NULL,
  costed_revenue_nano_usd bigint NOT NULL
);

CREATE INDEX gateway_usage_days_by_grain ON gateway_usage_days (grain, day);

-- How long requests of a day took, by the same, as `latency_days`.
CREATE TABLE gateway_latency_days (
  grain text COLLATE "C" NOT NULL,
  day timestamptz NOT NULL,
  account_id uuid,
  key_id uuid,
  model text,
  provider text,
  environment text,
  latency bigint[] NOT NULL,
  first_token bigint[] NOT NULL
);

CREATE INDEX gateway_latency_days_by_grain ON gateway_latency_days (grain, day);
CREATE INDEX gateway_latency_days_by_account ON gateway_latency_days (account_id, grain, day) WHERE account_id IS NOT NULL;

-- One row. Days before `summed_until` have sums, if they are not in `gateway_stale_days`. Days before `watched_until` are added there when
-- their usage changes.
CREATE TABLE gateway_sum_progress (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  summed_until date NOT NULL,
  watched_until date NOT NULL,
  -- When stale days were last added up again.
  refreshed_at timestamptz NOT NULL
);

INSERT INTO gateway_sum_progress (summed_until, watched_until, refreshed_at)
VALUES ('1970-01-01', '1970-01-01', '1970-01-01 00:00:00Z');

-- As `usage_stale_days`, of all accounts.
CREATE TABLE gateway_stale_days (
  day date NOT NULL
);

CREATE INDEX gateway_stale_days_by_day ON gateway_stale_days (day);

-- What it did before, and the same for the sums of all accounts.
CREATE OR REPLACE FUNCTION note_stale_days() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_stale_days (account_id, day)
  SELECT DISTINCT changed.account_id, (changed.hour AT TIME ZONE 'UTC')::date
  FROM changed JOIN usage_sum_progress progress ON progress.account_id = changed.account_id
  WHERE changed.hour < progress.watched_until::timestamp AT TIME ZONE 'UTC';
  IF TG_TABLE_NAME = 'usage_rollups' THEN
    INSERT INTO gateway_stale_days (day)
    SELECT DISTINCT (changed.hour AT TIME ZONE 'UTC')::date FROM changed
    WHERE changed.hour < (SELECT watched_until::timestamp AT TIME ZONE 'UTC' FROM gateway_sum_progress);
  END IF;
  RETURN NULL;
END $$;

-- A large table gets it after the start, without a lock (storage/online-indexes.ts).
DO $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM usage_rollups OFFSET 100000 LIMIT 1) THEN
    CREATE INDEX usage_rollups_by_hour ON usage_rollups (hour);
  END IF;
END $$;

-- As in `usage_rollups`.
ALTER TABLE usage_by_label
  ADD COLUMN vendor_cost_nano_usd bigint NOT NULL DEFAULT 0,
  ADD COLUMN costed_requests bigint NOT NULL DEFAULT 0,
  ADD COLUMN costed_revenue_nano_usd bigint NOT NULL DEFAULT 0;
