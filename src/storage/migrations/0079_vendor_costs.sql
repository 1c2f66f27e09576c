-- What vendors charge for requests, beside what accounts are charged.
-- Breaks nothing: columns that are null or zero for what exists and for what a process of the release before writes: its costs are unknown.

-- Null: unknown.
ALTER TABLE usage_records ADD COLUMN vendor_cost_nano_usd bigint;

-- Sums over the requests whose cost is known, how many these are, and what they were charged. The others are the rest of `requests`.
ALTER TABLE usage_rollups
  ADD COLUMN vendor_cost_nano_usd bigint NOT NULL DEFAULT 0,
  ADD COLUMN costed_requests bigint NOT NULL DEFAULT 0,
  ADD COLUMN costed_revenue_nano_usd bigint NOT NULL DEFAULT 0;

-- What the routes of the model cost while the list is charged, as given and in exact integers. Null: what the routes themselves say.
ALTER TABLE model_prices ADD COLUMN costs jsonb;
