-- Models that operators add while the gateway runs, and price lists of any model from a moment on.
-- Breaks nothing: new tables. A process of the release before serves neither and charges the prices of its file.

CREATE TABLE offered_models (
  id text COLLATE "C" PRIMARY KEY,
  -- As in the catalog file, without id and price.
  entry jsonb NOT NULL,
  -- Who sees it. Both null: everybody.
  account_ids uuid[],
  project_ids uuid[],
  -- The version of the offer in which it was last changed.
  version bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- The row stays: work that began before is followed to its end.
  removed_at timestamptz
);

-- Ids and aliases of models that are not removed: a name leads to one of them.
CREATE TABLE offered_model_names (
  name text COLLATE "C" PRIMARY KEY,
  model text COLLATE "C" NOT NULL REFERENCES offered_models (id)
);
CREATE INDEX offered_model_names_by_model ON offered_model_names (model);

-- Rows are never changed nor deleted, because bills name them. What had no effect yet can be withdrawn.
CREATE TABLE model_prices (
  -- The version of the offer in which it was added.
  version bigint PRIMARY KEY,
  -- No reference: models of the file have none.
  model text COLLATE "C" NOT NULL,
  effective_from timestamptz NOT NULL,
  -- As it was given, and the exact integers that are charged.
  price jsonb NOT NULL,
  rates jsonb NOT NULL,
  author_key_id uuid,
  reason text,
  created_at timestamptz NOT NULL,
  withdrawn_at timestamptz
);
CREATE UNIQUE INDEX model_prices_by_moment ON model_prices (model, effective_from) WHERE withdrawn_at IS NULL;

-- Price lists of catalog files that a process has used, so that its bills can be computed again without that file.
CREATE TABLE file_prices (
  -- A digest of the list.
  version text COLLATE "C" PRIMARY KEY,
  rates jsonb NOT NULL,
  first_used_at timestamptz NOT NULL DEFAULT now()
);
