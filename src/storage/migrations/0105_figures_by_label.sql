-- Errors and durations of requests by their tags, so that operators read them by tag as by everything else.
-- Breaks nothing: new tables, which a process of the release before does not fill: what it answers counts as without a tag there.

-- As `request_errors`, once for each tag of a request.
CREATE TABLE errors_by_label (
  account_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  label text COLLATE "C" NOT NULL,
  key_id uuid NOT NULL,
  -- Empty if no model was found.
  model text NOT NULL,
  outcome text NOT NULL,
  http_status integer NOT NULL,
  error_code text NOT NULL,
  requests bigint NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, hour, label, key_id, model, outcome, http_status, error_code)
) WITH (fillfactor = 70);

CREATE INDEX errors_by_label_by_hour ON errors_by_label (hour);

-- As `latency_rollups`, once for each tag of a request.
CREATE TABLE latency_by_label (
  account_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  label text COLLATE "C" NOT NULL,
  key_id uuid NOT NULL,
  model text NOT NULL,
  latency bigint[] NOT NULL,
  first_token bigint[] NOT NULL,
  PRIMARY KEY (account_id, hour, label, key_id, model)
) WITH (fillfactor = 70);

CREATE INDEX latency_by_label_by_hour ON latency_by_label (hour);
