-- Time series of deployments: what the gateway measured and what engines said, in steps of two lengths.
-- Breaks nothing: a new table and a new function. A process of the release before measures nothing.

CREATE TABLE deployment_metrics (
  deployment_id uuid NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  -- Short steps are kept for hours, long ones for days.
  step_seconds integer NOT NULL,
  at timestamptz NOT NULL,
  requests integer NOT NULL DEFAULT 0,
  errors integer NOT NULL DEFAULT 0,
  tokens_in bigint NOT NULL DEFAULT 0,
  tokens_out bigint NOT NULL DEFAULT 0,
  -- Milliseconds that requests were in flight and in the queue, so that figures of several processes can be added.
  in_flight_ms bigint NOT NULL DEFAULT 0,
  queue_ms bigint NOT NULL DEFAULT 0,
  -- How many requests were as slow as each bucket says.
  latency integer[] NOT NULL DEFAULT '{}',
  first_token integer[] NOT NULL DEFAULT '{}',
  -- The last values that the engine told in this step.
  engine_running real,
  engine_waiting real,
  engine_cache_usage real,
  PRIMARY KEY (deployment_id, step_seconds, at)
);

CREATE INDEX deployment_metrics_by_age ON deployment_metrics (step_seconds, at);

-- Adds two lists of counts place by place. The shorter one counts as filled up with zeros.
CREATE FUNCTION add_counts(one integer[], other integer[]) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(coalesce(a, 0) + coalesce(b, 0) ORDER BY place), '{}')
  FROM unnest(one, other) WITH ORDINALITY AS both_counts (a, b, place)
$$;
