-- Why requests failed: what the client was told, what the upstream said, and counts of equal errors by hour.
-- Breaks nothing: columns that are null for what exists and for what a process of the release before writes, and a new table.

ALTER TABLE failed_requests
  ADD COLUMN error_message text,
  -- Of the last attempt that failed.
  ADD COLUMN upstream_status integer,
  ADD COLUMN upstream_code text,
  ADD COLUMN upstream_message text,
  -- Equal for equal errors (modules/request-log/errors/error-key.ts).
  ADD COLUMN error_key text;

-- All requests that failed, also those beyond what `failed_requests` keeps.
CREATE TABLE request_errors (
  account_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  key_id uuid NOT NULL,
  -- Empty if no model was found, or no upstream was called.
  model text NOT NULL,
  provider text NOT NULL,
  operation text NOT NULL,
  error_key text NOT NULL,
  environment text NOT NULL,
  outcome text NOT NULL,
  http_status integer NOT NULL,
  error_code text NOT NULL,
  upstream_status integer,
  upstream_code text,
  -- Of the last request.
  error_message text,
  upstream_message text,
  last_id uuid NOT NULL,
  requests bigint NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, hour, key_id, model, provider, operation, error_key)
) WITH (fillfactor = 70);

CREATE INDEX request_errors_by_hour ON request_errors (hour);

-- A large table gets its indexes after the start, without a lock (storage/online-indexes.ts).
DO $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM usage_records OFFSET 100000 LIMIT 1) THEN
    CREATE INDEX usage_records_by_id ON usage_records (id);
    CREATE INDEX usage_records_failed_by_id ON usage_records (id) WHERE outcome <> 'completed';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM failed_requests OFFSET 100000 LIMIT 1) THEN
    CREATE INDEX failed_requests_by_id ON failed_requests (id);
  END IF;
END $$;
