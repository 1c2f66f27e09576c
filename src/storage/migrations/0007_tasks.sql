-- Long work: tasks, whose turn it is, and what their webhooks were told.
-- Breaks nothing. Jobs that wake workers live in a schema of their own, made by the job queue itself.

CREATE TABLE tasks (
  -- A UUIDv7: the order of ids is the order of creation.
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  key_id uuid NOT NULL,
  environment text NOT NULL,
  -- The request that asked for it: one request makes one task, however often it is sent.
  request_id text NOT NULL UNIQUE,
  type text NOT NULL CHECK (type IN ('image', 'video', 'tts', 'music', 'stt', 'edit', 'upscale', 'bg_remove')),
  model text NOT NULL,
  requested_model text NOT NULL,
  -- For who performs it. Never shown.
  work jsonb NOT NULL,
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'cancelled')),
  -- Of the tries that ended with the worker, or with an error that another try may not meet.
  attempt smallint NOT NULL DEFAULT 1 CHECK (attempt BETWEEN 1 AND 3),
  -- The last allowed try was cut: whoever takes it next has only to say that it failed.
  is_exhausted boolean NOT NULL DEFAULT false,
  progress smallint NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
  -- The upstream tells its progress; without it the time that has passed stands for it.
  is_progress_known boolean NOT NULL DEFAULT false,
  expected_ms integer NOT NULL CHECK (expected_ms > 0),
  -- Larger is sooner.
  priority smallint NOT NULL DEFAULT 0,
  -- After an error: not before this time.
  not_before timestamptz,
  -- Expected while it waits, known from the first submit on: providers have limits of their own.
  provider text,
  -- Written before the upstream is asked, so that a submit that was cut can be looked for.
  submitting_to jsonb,
  -- The upstream's own job.
  job jsonb,
  -- The borrower that works on it; a borrower that is declared dead loses it.
  worker_id uuid,
  result jsonb,
  usage jsonb,
  error_code text,
  error_message text,
  cost_nano_usd bigint CHECK (cost_nano_usd BETWEEN 0 AND hold_nano_usd),
  hold_nano_usd bigint NOT NULL CHECK (hold_nano_usd >= 0),
  -- False in a gateway that charges nobody: nothing is held then.
  is_held boolean NOT NULL,
  webhook_url text,
  metadata jsonb,
  -- How long the work itself may take.
  deadline_ms integer NOT NULL CHECK (deadline_ms > 0),
  -- While it has never started: how long it may wait. From then on: when it must have ended.
  deadline_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  completed_at timestamptz,
  updated_at timestamptz NOT NULL,
  -- When the result goes. The row stays.
  expires_at timestamptz NOT NULL,
  CHECK ((status = 'processing') = (worker_id IS NOT NULL)),
  CHECK (status <> 'processing' OR started_at IS NOT NULL),
  CHECK ((status IN ('completed', 'failed', 'cancelled')) = (completed_at IS NOT NULL)),
  CHECK ((status = 'completed') = (cost_nano_usd IS NOT NULL)),
  CHECK ((status = 'failed') = (error_code IS NOT NULL))
);

ALTER TABLE tasks SET (fillfactor = 80);

CREATE INDEX tasks_by_account ON tasks (account_id, id);
CREATE INDEX tasks_pending ON tasks (account_id, priority DESC, id) WHERE status = 'pending';
CREATE INDEX tasks_processing ON tasks (worker_id) WHERE status = 'processing';
CREATE INDEX tasks_by_expiry ON tasks (expires_at) WHERE result IS NOT NULL;

CREATE FUNCTION refuse_task_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a task that is % does not become %', OLD.status, NEW.status;
END $$;

-- The state machine, held by the database: a terminal state never changes.
CREATE TRIGGER tasks_follow_their_states BEFORE UPDATE OF status ON tasks FOR EACH ROW
  WHEN (OLD.status <> NEW.status AND NOT (
    (OLD.status = 'pending' AND NEW.status IN ('processing', 'cancelled'))
    OR (OLD.status = 'processing' AND NEW.status IN ('pending', 'completed', 'failed', 'cancelled'))))
  EXECUTE FUNCTION refuse_task_change();

-- When an account was last given a worker: among equals, who has waited longest is next.
CREATE TABLE task_turns (
  account_id uuid PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  served_at timestamptz NOT NULL
);

ALTER TABLE task_turns SET (fillfactor = 50);

-- Signs what is sent to webhooks of the account. The one before it signs too, for a while.
CREATE TABLE webhook_secrets (
  account_id uuid PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  secret text NOT NULL,
  previous_secret text,
  previous_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- One row a webhook: what is still to be told, and how telling it went.
CREATE TABLE webhook_deliveries (
  -- Sent as `webhook-id`, the same at every try.
  id uuid PRIMARY KEY,
  task_id uuid NOT NULL UNIQUE REFERENCES tasks (id) ON DELETE CASCADE,
  account_id uuid NOT NULL,
  url text NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  -- `{at, status, error, duration_ms}` each.
  attempts jsonb NOT NULL DEFAULT '[]',
  next_attempt_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
);

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE status = 'pending';
