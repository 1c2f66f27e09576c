-- Batches: many requests in one file, asked in the background.
-- Breaks nothing: new tables. A worker of the release before leaves batches to others.

CREATE TABLE batches (
  id uuid PRIMARY KEY,
  -- No reference is checked: accounts are never deleted.
  account_id uuid NOT NULL,
  -- Null for the project `Default`.
  project_id uuid,
  -- Asks the lines, with its rights of that moment.
  key_id uuid NOT NULL,
  labels text[],
  -- In which form clients made it and read it.
  wire text NOT NULL CHECK (wire IN ('batches', 'messages')),
  endpoint text NOT NULL,
  -- Null while it is not known, and for lines of several models.
  model text,
  input_file_id uuid NOT NULL,
  output_file_id uuid,
  error_file_id uuid,
  output_seconds integer,
  -- Whether it runs although the balance does not cover all of it.
  runs_as_far boolean NOT NULL,
  metadata jsonb,
  status text NOT NULL CHECK (status IN
    ('validating', 'failed', 'in_progress', 'finalizing', 'completed', 'expired', 'cancelling', 'cancelled')),
  -- What is wrong with the lines of a failed batch.
  errors jsonb,
  lines_total integer NOT NULL DEFAULT 0,
  lines_completed integer NOT NULL DEFAULT 0,
  lines_failed integer NOT NULL DEFAULT 0,
  input_tokens bigint NOT NULL DEFAULT 0,
  cached_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  reasoning_tokens bigint NOT NULL DEFAULT 0,
  cost_nano_usd bigint NOT NULL DEFAULT 0,
  estimated_nano_usd bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  in_progress_at timestamptz,
  finalizing_at timestamptz,
  completed_at timestamptz,
  failed_at timestamptz,
  expired_at timestamptz,
  cancelling_at timestamptz,
  cancelled_at timestamptz,
  -- The borrower that works on it. Null: it waits, or has ended.
  worker_id uuid,
  claimed_at timestamptz,
  claim integer NOT NULL DEFAULT 0
);

CREATE INDEX batches_by_account ON batches (account_id, wire, id);
CREATE INDEX batches_unended ON batches (account_id, id)
  WHERE status IN ('validating', 'in_progress', 'finalizing', 'cancelling');

CREATE TABLE batch_lines (
  batch_id uuid NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
  -- In the input file, from 1.
  number integer NOT NULL,
  custom_id text NOT NULL,
  -- Where it is in the input file.
  first_byte bigint NOT NULL,
  bytes integer NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'completed', 'failed')),
  -- The claim of the batch under which it runs.
  claim integer,
  tries smallint NOT NULL DEFAULT 0,
  request_id text,
  -- The part of the charge under its request id that the cost of the batch has already.
  counted_nano_usd bigint NOT NULL DEFAULT 0,
  -- Null for a line that was not asked.
  http_status smallint,
  -- Why it was not asked.
  error_code text,
  -- The answer, as JSON; or the message of the error.
  result text,
  PRIMARY KEY (batch_id, number)
);

CREATE INDEX batch_lines_open ON batch_lines (batch_id, number) WHERE status IN ('pending', 'running');
