-- Limits of each key of a provider: requests and tokens a minute, and a budget a day.
-- Breaks nothing: columns that are null for what exists and for what a process of the release before writes, and a new table.

ALTER TABLE provider_credentials
  ADD COLUMN requests_per_minute bigint CHECK (requests_per_minute > 0),
  ADD COLUMN tokens_per_minute bigint CHECK (tokens_per_minute > 0),
  ADD COLUMN budget_nano_per_day bigint CHECK (budget_nano_per_day > 0);

-- What was spent with a key that has a budget, on the last day on which it was used, in UTC.
CREATE TABLE provider_key_spend (
  -- The id of a credential, or a name made of the provider and a part of the key's hash for keys of the configuration.
  key_id text PRIMARY KEY,
  day date NOT NULL,
  spent_nano bigint NOT NULL CHECK (spent_nano >= 0)
);
