-- What is said of the answers of runs, and conversations that several lanes hold at once.
-- Breaks nothing.

CREATE TABLE compare_votes (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  run_id uuid NOT NULL REFERENCES compare_runs (id) ON DELETE CASCADE,
  -- Null for the run as a whole, and for all repeats of a prompt.
  prompt_index integer,
  repeat smallint,
  -- Who was compared, sorted: all lanes by people, two by a judge.
  lane_ids uuid[] NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('winner', 'tie', 'both_bad')),
  winner_lane_id uuid,
  source text NOT NULL CHECK (source IN ('human', 'judge')),
  -- The key that voted, or in whose name the judge was asked.
  voter_id uuid NOT NULL,
  reason text,
  created_at timestamptz NOT NULL,
  CHECK ((outcome = 'winner') = (winner_lane_id IS NOT NULL)),
  CHECK (repeat IS NULL OR prompt_index IS NOT NULL)
);

-- One vote a voter and question: another one takes its place.
CREATE UNIQUE INDEX compare_votes_once
  ON compare_votes (run_id, source, voter_id, coalesce(prompt_index, -1), coalesce(repeat, -1), lane_ids);
CREATE INDEX compare_votes_by_account ON compare_votes (account_id, id);

-- What a judge was asked and said, in one of the two orders.
CREATE TABLE compare_judgements (
  run_id uuid NOT NULL REFERENCES compare_runs (id) ON DELETE CASCADE,
  prompt_index integer NOT NULL,
  repeat smallint NOT NULL,
  first_lane_id uuid NOT NULL,
  -- The same one where a single answer is scored.
  second_lane_id uuid NOT NULL,
  -- Written before the judge is asked and kept when a crash cuts the call: the ledger charges it once.
  request_id text NOT NULL,
  preferred text CHECK (preferred IN ('first', 'second', 'tie')),
  -- Between 0 and 1.
  score real,
  reason text,
  cost_nano_usd bigint NOT NULL DEFAULT 0 CHECK (cost_nano_usd >= 0),
  error_code text,
  error_message text,
  created_at timestamptz NOT NULL,
  completed_at timestamptz,
  PRIMARY KEY (run_id, prompt_index, repeat, first_lane_id, second_lane_id)
);

-- Whose answers a judge is through with.
CREATE TABLE compare_judged (
  run_id uuid NOT NULL REFERENCES compare_runs (id) ON DELETE CASCADE,
  prompt_index integer NOT NULL,
  repeat smallint NOT NULL,
  PRIMARY KEY (run_id, prompt_index, repeat)
);

CREATE TABLE compare_conversations (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name text,
  system text,
  turns_total integer NOT NULL DEFAULT 0,
  -- Of everything that was said, by all lanes.
  history_bytes bigint NOT NULL DEFAULT 0,
  cost_nano_usd bigint NOT NULL DEFAULT 0 CHECK (cost_nano_usd >= 0),
  -- The turn that is being answered. Its process renews the time; one that died does not.
  running_turn_id uuid,
  busy_until timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CHECK ((running_turn_id IS NULL) = (busy_until IS NULL))
);

CREATE INDEX compare_conversations_by_account ON compare_conversations (account_id, id);

CREATE TABLE compare_conversation_lanes (
  id uuid PRIMARY KEY,
  conversation_id uuid NOT NULL REFERENCES compare_conversations (id) ON DELETE CASCADE,
  -- As they were given.
  position smallint NOT NULL,
  model text NOT NULL,
  name text NOT NULL,
  -- Members of a chat request, as they were sent: the order of a schema's members reaches the model.
  params json NOT NULL,
  UNIQUE (conversation_id, position)
);

CREATE TABLE compare_turns (
  id uuid PRIMARY KEY,
  conversation_id uuid NOT NULL REFERENCES compare_conversations (id) ON DELETE CASCADE,
  turn_index integer NOT NULL,
  -- What every lane was told.
  messages json NOT NULL,
  created_at timestamptz NOT NULL,
  completed_at timestamptz,
  UNIQUE (conversation_id, turn_index)
);

CREATE TABLE compare_replies (
  turn_id uuid NOT NULL REFERENCES compare_turns (id) ON DELETE CASCADE,
  lane_id uuid NOT NULL,
  -- What the ledger charged it under.
  request_id text NOT NULL,
  status text NOT NULL CHECK (status IN ('running', 'completed', 'failed')),
  output text,
  reasoning text,
  tool_calls json,
  finish_reason text,
  usage jsonb,
  cost_nano_usd bigint NOT NULL DEFAULT 0 CHECK (cost_nano_usd >= 0),
  latency_ms integer,
  ttft_ms integer,
  model text,
  provider text,
  error_code text,
  error_message text,
  PRIMARY KEY (turn_id, lane_id),
  CHECK ((status = 'failed') = (error_code IS NOT NULL))
);
