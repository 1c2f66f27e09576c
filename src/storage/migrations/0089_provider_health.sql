-- How providers did, by hour and by day, for every model: calls, failures, how long they took.
-- Breaks nothing: a new table. What a process of the release before calls is not in it.

CREATE TABLE provider_health (
  -- `hour` or `day` of UTC. A call is in both.
  grain text COLLATE "C" NOT NULL,
  begins timestamptz NOT NULL,
  provider text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  -- Attempts that ended, without those that the client or this gateway ended.
  calls bigint NOT NULL,
  -- Those that failed through the provider or the way to it, and those that it refused because there were too many.
  failures bigint NOT NULL,
  limited bigint NOT NULL,
  -- Histograms of complete answers, as in latency_rollups.
  latency bigint[] NOT NULL,
  first_token bigint[] NOT NULL,
  -- Of complete streams: the tokens written, and the milliseconds from the first to the last.
  written_tokens bigint NOT NULL,
  written_ms bigint NOT NULL,
  PRIMARY KEY (grain, begins, provider, model)
  -- Room on each page, so that a change touches no index.
) WITH (fillfactor = 70);
