-- Deployments of models on GPUs: what their accounts want, what was seen of them, their runs with what was billed, and their events.
-- Breaks nothing: new tables. A process of the release before knows no model `byom-…` and looks after no deployment.

CREATE TABLE deployments (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- The key that made it: its caps hold for the GPU time.
  key_id uuid NOT NULL,
  environment text NOT NULL,
  name text NOT NULL,
  huggingface_id text NOT NULL,
  revision text,
  gpu_tier text NOT NULL,
  driver text NOT NULL,
  quantization text NOT NULL,
  max_model_len integer,
  env jsonb NOT NULL DEFAULT '{}',
  -- 0 is never.
  idle_timeout_minutes integer NOT NULL CHECK (idle_timeout_minutes >= 0),
  price_per_hour_nano_usd bigint NOT NULL CHECK (price_per_hour_nano_usd >= 0),
  budget_limit_nano_usd bigint CHECK (budget_limit_nano_usd >= 0),
  -- The sum of what its runs were charged.
  spent_nano_usd bigint NOT NULL DEFAULT 0 CHECK (spent_nano_usd >= 0),
  -- Grows with each wish of its account, so that one which comes while somebody looks is not overlooked.
  intent integer NOT NULL DEFAULT 0,
  desired_state text NOT NULL CHECK (desired_state IN ('running', 'sleeping', 'stopped', 'deleted')),
  status text NOT NULL CHECK (status IN
    ('queued', 'creating', 'starting', 'running', 'sleeping', 'stopping', 'stopped', 'error', 'deleted')),
  status_reason text,
  error_code text,
  error_message text,
  progress integer NOT NULL DEFAULT 0,
  -- Starts since it was last well.
  attempt integer NOT NULL DEFAULT 0,
  -- Where its engine is asked, while it runs.
  endpoint text,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  stopped_at timestamptz,
  last_request_at timestamptz,
  -- By the database's clock: processes read what has changed since they last looked.
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- When somebody has to look at it; null while nothing is to be done.
  next_look_at timestamptz,
  lease_owner uuid,
  lease_until timestamptz
);

CREATE INDEX deployments_by_account ON deployments (account_id, id);
CREATE INDEX deployments_by_look ON deployments (next_look_at) WHERE next_look_at IS NOT NULL;
CREATE INDEX deployments_by_change ON deployments (updated_at);

-- One attempt to have the engine of a deployment on a GPU. Its id is that of the driver's instance.
CREATE TABLE deployment_runs (
  id uuid PRIMARY KEY,
  deployment_id uuid NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  account_id uuid NOT NULL,
  price_per_hour_nano_usd bigint NOT NULL,
  created_at timestamptz NOT NULL,
  launched_at timestamptz,
  -- From here it is billed, if it becomes ready.
  bound_at timestamptz,
  ready_at timestamptz,
  -- Since then it is being ended; requests in flight may end until `drain_until`.
  stopping_at timestamptz,
  drain_until timestamptz,
  stop_sent_at timestamptz,
  released_at timestamptz,
  -- The number of the hold that is open; each slice has its own.
  slice integer NOT NULL DEFAULT 0,
  is_held boolean NOT NULL DEFAULT false,
  held_nano_usd bigint NOT NULL DEFAULT 0 CHECK (held_nano_usd >= 0),
  billed_seconds bigint NOT NULL DEFAULT 0 CHECK (billed_seconds >= 0),
  charged_nano_usd bigint NOT NULL DEFAULT 0 CHECK (charged_nano_usd >= 0),
  uncovered_nano_usd bigint NOT NULL DEFAULT 0 CHECK (uncovered_nano_usd >= 0)
);

CREATE INDEX deployment_runs_by_deployment ON deployment_runs (deployment_id, id);
CREATE UNIQUE INDEX deployment_runs_open ON deployment_runs (deployment_id) WHERE released_at IS NULL;

CREATE TABLE deployment_events (
  id uuid PRIMARY KEY,
  -- Their order: several can be of one millisecond.
  number bigint GENERATED ALWAYS AS IDENTITY,
  deployment_id uuid NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  account_id uuid NOT NULL,
  type text NOT NULL,
  from_status text,
  to_status text NOT NULL,
  message text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL
);

CREATE INDEX deployment_events_by_deployment ON deployment_events (deployment_id, number);

-- What each process does for a deployment. A row that nobody refreshes is of a process that is gone.
CREATE TABLE deployment_activity (
  deployment_id uuid NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  process_id uuid NOT NULL,
  in_flight integer NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (deployment_id, process_id)
);

-- The sandbox's machines, which outlive the processes that asked for them as real ones do.
CREATE TABLE sandbox_machines (
  instance_id uuid PRIMARY KEY,
  tier_id text NOT NULL,
  huggingface_id text NOT NULL,
  failure text,
  launched_at timestamptz NOT NULL,
  released_at timestamptz
);
