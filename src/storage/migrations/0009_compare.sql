-- Side by side: datasets, runs, and their cells.
-- Breaks nothing.

CREATE TABLE compare_datasets (
  -- A UUIDv7: the order of ids is the order of creation.
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name text NOT NULL,
  description text,
  -- The content it has now: what else it had is in its versions.
  version text NOT NULL,
  prompts_total integer NOT NULL CHECK (prompts_total > 0),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- Runs that were made of it keep what they need.
  deleted_at timestamptz
);

CREATE INDEX compare_datasets_by_account ON compare_datasets (account_id, id) WHERE deleted_at IS NULL;

CREATE TABLE compare_dataset_versions (
  dataset_id uuid NOT NULL REFERENCES compare_datasets (id) ON DELETE CASCADE,
  -- A hash of the prompts: the same content is the same version.
  version text NOT NULL,
  -- `[{id, messages, expected}]`, as text: the order of members is the client's.
  prompts json NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (dataset_id, version)
);

CREATE TABLE compare_runs (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- In whose name cells are asked; read anew whenever the run goes on.
  key_id uuid NOT NULL,
  environment text NOT NULL,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
  repeats smallint NOT NULL CHECK (repeats BETWEEN 1 AND 10),
  -- Cells at once.
  concurrency smallint NOT NULL CHECK (concurrency > 0),
  is_blind boolean NOT NULL,
  -- `{model, rubric}`
  judge jsonb,
  dataset_id uuid,
  dataset_version text,
  conversation_id uuid,
  -- Decides the order of lanes in every prompt.
  seed bigint NOT NULL,
  models text[] NOT NULL,
  prompts_total integer NOT NULL,
  -- Kept with every cell, so that nobody has to count.
  cells_total integer NOT NULL,
  cells_done integer NOT NULL DEFAULT 0,
  cells_failed integer NOT NULL DEFAULT 0,
  budget_nano_usd bigint CHECK (budget_nano_usd > 0),
  cost_nano_usd bigint NOT NULL DEFAULT 0 CHECK (cost_nano_usd >= 0),
  estimated_cost_nano_usd bigint NOT NULL,
  estimated_ms bigint NOT NULL,
  winner_lane_id uuid,
  is_pinned boolean NOT NULL DEFAULT false,
  error_code text,
  error_message text,
  -- The borrower that works on it; a borrower that is declared dead loses it.
  worker_id uuid,
  -- Grows with every claim: what an earlier one still writes of a cell changes nothing.
  claim integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  started_at timestamptz,
  completed_at timestamptz,
  CHECK ((status = 'running') = (worker_id IS NOT NULL)),
  CHECK ((status IN ('completed', 'failed', 'cancelled')) = (completed_at IS NOT NULL)),
  CHECK (cells_done + cells_failed <= cells_total)
);

ALTER TABLE compare_runs SET (fillfactor = 60);

CREATE INDEX compare_runs_by_account ON compare_runs (account_id, id);
CREATE INDEX compare_runs_queued ON compare_runs (id) WHERE status = 'queued';
CREATE INDEX compare_runs_running ON compare_runs (account_id) WHERE status = 'running';

CREATE INDEX compare_runs_by_age ON compare_runs (completed_at) WHERE NOT is_pinned;

CREATE TABLE compare_lanes (
  id uuid PRIMARY KEY,
  run_id uuid NOT NULL REFERENCES compare_runs (id) ON DELETE CASCADE,
  -- As they were given.
  position smallint NOT NULL,
  -- As it was asked for.
  model text NOT NULL,
  name text NOT NULL,
  -- Members of a chat request, as text: the order of members reaches the model.
  params json NOT NULL,
  -- What the model cost when the run was made.
  price jsonb,
  completed integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  cost_nano_usd bigint NOT NULL DEFAULT 0,
  prompt_tokens bigint NOT NULL DEFAULT 0,
  completion_tokens bigint NOT NULL DEFAULT 0,
  -- Prompts that it won by vote, kept with the votes.
  wins integer NOT NULL DEFAULT 0,
  -- Percentiles and the like, worked out now and then while the run goes on and at its end.
  stats jsonb,
  UNIQUE (run_id, position)
);

ALTER TABLE compare_lanes SET (fillfactor = 60);

CREATE TABLE compare_prompts (
  run_id uuid NOT NULL REFERENCES compare_runs (id) ON DELETE CASCADE,
  prompt_index integer NOT NULL,
  -- The client's own.
  external_id text,
  messages json NOT NULL,
  expected json,
  -- Positions of lanes in the order they are asked; each repeat begins one further.
  lane_order smallint[] NOT NULL,
  PRIMARY KEY (run_id, prompt_index)
);

CREATE TABLE compare_cells (
  run_id uuid NOT NULL REFERENCES compare_runs (id) ON DELETE CASCADE,
  prompt_index integer NOT NULL,
  repeat smallint NOT NULL,
  lane_position smallint NOT NULL,
  lane_id uuid NOT NULL,
  -- Where the lane stands in the order of this prompt and repeat.
  turn smallint NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'completed', 'failed')),
  -- Of the run, when this was begun.
  claim integer,
  -- Written before anybody is asked and kept when a crash cuts the call: the ledger charges it once.
  request_id text,
  tries smallint NOT NULL DEFAULT 0,
  -- Of all tries together: an answer that broke off costs what was delivered.
  cost_nano_usd bigint NOT NULL DEFAULT 0 CHECK (cost_nano_usd >= 0),
  output text,
  reasoning text,
  tool_calls json,
  finish_reason text,
  usage jsonb,
  latency_ms integer,
  ttft_ms integer,
  -- Of the catalog, and who answered.
  model text,
  provider text,
  error_code text,
  error_message text,
  -- Between 0 and 1, where something was expected.
  score real,
  judge jsonb,
  started_at timestamptz,
  completed_at timestamptz,
  PRIMARY KEY (run_id, prompt_index, repeat, lane_position),
  CHECK (status <> 'running' OR (request_id IS NOT NULL AND claim IS NOT NULL)),
  CHECK ((status = 'failed') = (error_code IS NOT NULL))
);

ALTER TABLE compare_cells SET (fillfactor = 60);

CREATE INDEX compare_cells_pending ON compare_cells (run_id, prompt_index, repeat, turn) WHERE status = 'pending';
CREATE INDEX compare_cells_running ON compare_cells (run_id) WHERE status = 'running';
