-- Which models a project may use, and how much of each.
-- Breaks nothing: new tables. A process of the release before does not know them and limits nothing.

CREATE TABLE project_model_permissions (
  project_id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  mode text NOT NULL CHECK (mode IN ('allow_list', 'deny_list')),
  model_ids text[] NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (account_id, project_id) REFERENCES projects (account_id, id) ON DELETE CASCADE
);

-- Null: only the limits of the account's tier.
CREATE TABLE project_rate_limits (
  project_id uuid NOT NULL,
  account_id uuid NOT NULL,
  model text NOT NULL,
  requests_per_minute bigint,
  tokens_per_minute bigint,
  images_per_minute bigint,
  audio_megabytes_per_minute bigint,
  requests_per_day bigint,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, model),
  FOREIGN KEY (account_id, project_id) REFERENCES projects (account_id, id) ON DELETE CASCADE
);

-- Requests that processes have taken of a day, in UTC. Only the current day is kept.
CREATE TABLE project_day_requests (
  project_id uuid NOT NULL,
  model text NOT NULL,
  day date NOT NULL,
  taken bigint NOT NULL,
  PRIMARY KEY (project_id, model)
);
