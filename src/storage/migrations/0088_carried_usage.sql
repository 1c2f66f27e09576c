-- Sums of the usage records that are not kept any more, by which the books can still be compared with the requests.
-- Breaks nothing: a new table. Records are dropped by month (storage/partitions), and not before the operator's retention has passed.

CREATE TABLE usage_carried (
  account_id uuid NOT NULL,
  -- What the records were in.
  partition text NOT NULL,
  -- All of them began before.
  until timestamptz NOT NULL,
  requests bigint NOT NULL,
  -- Of all kinds, used only for comparison.
  tokens numeric NOT NULL,
  cost_nano_usd bigint NOT NULL,
  PRIMARY KEY (account_id, partition)
);
