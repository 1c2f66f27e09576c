-- How long requests took, as histograms: percentiles of any range and group are read from them.
-- Breaks nothing: new tables.

-- A histogram is a list of numbers, each a bucket (the upper 32 bits) and how many requests it has (the lower ones). The buckets are
-- those of modules/usage/latency-buckets.ts.
CREATE TABLE latency_rollups (
  account_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  key_id uuid NOT NULL,
  model text NOT NULL,
  provider text NOT NULL,
  operation text NOT NULL,
  environment text NOT NULL,
  latency bigint[] NOT NULL,
  -- Empty if no answer was streamed.
  first_token bigint[] NOT NULL,
  PRIMARY KEY (account_id, hour, key_id, model, provider, operation)
  -- Room on each page, so that a change touches no index.
) WITH (fillfactor = 70);

CREATE INDEX latency_rollups_by_hour ON latency_rollups (hour);

-- Hours of the past, added up by day of UTC: a year has too many hours to read.
CREATE TABLE latency_days (
  account_id uuid NOT NULL,
  day timestamptz NOT NULL,
  key_id uuid NOT NULL,
  model text NOT NULL,
  provider text NOT NULL,
  operation text NOT NULL,
  environment text NOT NULL,
  latency bigint[] NOT NULL,
  first_token bigint[] NOT NULL,
  PRIMARY KEY (account_id, day, key_id, model, provider, operation)
);
