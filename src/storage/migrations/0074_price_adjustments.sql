-- Markups and discounts on price lists, from a moment on, by account, project and model.
-- Breaks nothing: a new table. A process of the release before charges the price lists as they are.

-- The terms of a row are never changed, because bills name it. Its end can be moved while it is in the future.
CREATE TABLE price_adjustments (
  -- The version of the offer in which it was added.
  version bigint PRIMARY KEY,
  -- Whom it is for. Both null: everybody. No references: bills name rows also after an account is gone.
  account_id uuid,
  project_id uuid,
  -- Null: every model.
  model text COLLATE "C",
  -- As they were given, and the exact integers that are applied.
  given jsonb NOT NULL,
  terms jsonb NOT NULL,
  effective_from timestamptz NOT NULL,
  -- Null: it has no end.
  effective_until timestamptz,
  author_key_id uuid,
  reason text,
  created_at timestamptz NOT NULL,
  withdrawn_at timestamptz,
  CHECK (account_id IS NULL OR project_id IS NULL),
  CHECK (effective_until IS NULL OR effective_until >= effective_from)
);
