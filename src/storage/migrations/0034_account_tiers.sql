-- Tiers of limits that the operator has set for single accounts, instead of the tier of their balance.
-- Breaks nothing: a new table.

CREATE TABLE account_tiers (
  account_id uuid PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  -- The name of a tier in the operator's table of limits.
  tier text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);
