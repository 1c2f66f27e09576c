-- How much the agents of each person exported on a day.
-- Breaks nothing: a new table.

CREATE TABLE agent_exports (
  account_id uuid NOT NULL,
  user_id uuid NOT NULL,
  day date NOT NULL,
  metrics bigint NOT NULL,
  logs bigint NOT NULL,
  traces bigint NOT NULL,
  refused bigint NOT NULL,
  bytes bigint NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, user_id, day),
  FOREIGN KEY (account_id, user_id) REFERENCES account_members (account_id, user_id) ON DELETE CASCADE
);

CREATE INDEX agent_exports_by_day ON agent_exports (day);
