-- Blind runs: what the aliases of lanes are made from. It is told nobody, unlike the seed.
-- Breaks nothing. Runs without it are named by their seed, as before.

ALTER TABLE compare_runs ADD COLUMN alias_key text;
