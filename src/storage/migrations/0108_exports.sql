-- Exports of requests to systems of the operator: what is to be sent, and how far each of those systems is.
-- Breaks nothing: new tables. A process of an earlier release adds nothing to the queue, so sinks begin when there is none left.

-- One row a system that gets requests. While there is none, nothing is queued.
CREATE TABLE export_sinks (
  name text PRIMARY KEY,
  -- It has confirmed all requests up to this number.
  position bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When a process last had it in its settings.
  seen_at timestamptz NOT NULL DEFAULT now(),
  worker_id uuid,
  claim integer NOT NULL DEFAULT 0,
  sent bigint NOT NULL DEFAULT 0,
  -- Requests that it did not get: they waited too long, or the log did not have them any more.
  skipped bigint NOT NULL DEFAULT 0,
  -- Requests that it refused for ever.
  refused bigint NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  last_error text,
  failed_at timestamptz,
  confirmed_at timestamptz
);

-- Requests in the order in which they are sent. The content is read from `usage_records` and `failed_requests`.
CREATE TABLE export_queue (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  is_charged boolean NOT NULL,
  queued_at timestamptz NOT NULL DEFAULT now()
) WITH (
  -- Rows live as long as the slowest sink needs, mostly seconds.
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000
);
