-- Requests that were refused or failed without a charge, for the request log.
-- Breaks nothing: a new table.

-- No reference is checked, as in usage_records: accounts are never deleted.
CREATE TABLE failed_requests (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  key_id uuid NOT NULL,
  environment text NOT NULL,
  operation text NOT NULL,
  -- Empty if no model was found. What the client asked for is in the details.
  model text NOT NULL,
  provider text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('disconnected', 'failed', 'refused')),
  http_status integer NOT NULL,
  error_code text,
  latency_ms integer NOT NULL,
  first_token_ms integer,
  details text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE INDEX failed_requests_by_time ON failed_requests (created_at);
