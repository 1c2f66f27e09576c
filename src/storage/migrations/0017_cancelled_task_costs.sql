-- What a cancelled task cost, because a provider that had begun the work bills it all the same; and how many workers died with it.
-- Breaks nothing: columns that older processes leave at nought.

ALTER TABLE tasks ADD COLUMN cancel_cost_nano_usd bigint NOT NULL DEFAULT 0 CHECK (cancel_cost_nano_usd >= 0);
ALTER TABLE tasks ADD COLUMN interruptions smallint NOT NULL DEFAULT 0 CHECK (interruptions >= 0);
