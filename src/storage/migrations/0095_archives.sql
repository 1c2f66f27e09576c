-- Closed months of requests and of the ledger that are in files (storage/archive), and the sums by which both can be compared.
-- Breaks nothing: new tables, and columns with a default.

CREATE TABLE archives (
  id uuid PRIMARY KEY,
  -- What the rows are of: `usage_records` or `ledger_entries`.
  source text NOT NULL,
  -- Its first day, in UTC.
  month date NOT NULL,
  -- Which columns the files have.
  schema_version integer NOT NULL,
  -- `writing`: some files may be missing. `stale`: rows came later, so that it is written again. `complete`: all files were read back.
  status text NOT NULL DEFAULT 'writing' CHECK (status IN ('writing', 'complete', 'stale')),
  rows bigint NOT NULL DEFAULT 0,
  -- The sum of a hash of each row, by which the same rows are known again, in any order.
  digest numeric NOT NULL DEFAULT 0,
  -- Of the file that lists the others.
  manifest_sha256 text,
  -- Since when the rows are in the files only.
  dropped_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX archives_by_month ON archives (source, month);

-- Whoever continues after a process was killed begins after the last part.
CREATE TABLE archive_parts (
  archive_id uuid NOT NULL REFERENCES archives (id) ON DELETE CASCADE,
  part integer NOT NULL,
  rows bigint NOT NULL,
  bytes bigint NOT NULL,
  sha256 text NOT NULL,
  -- Of the values of all rows, in their order.
  content_sha256 text NOT NULL,
  digest numeric NOT NULL,
  -- Sums of columns, by their names, as text.
  sums jsonb NOT NULL,
  -- The key of its last row.
  last_key text[] NOT NULL,
  PRIMARY KEY (archive_id, part)
);

CREATE TABLE archived_sums (
  account_id uuid NOT NULL,
  archive_id uuid NOT NULL REFERENCES archives (id) ON DELETE CASCADE,
  rows bigint NOT NULL,
  -- The cost of requests, or the change of the credit by entries.
  amount_nano_usd bigint NOT NULL,
  PRIMARY KEY (archive_id, account_id)
);

-- How much of them is in archives.
ALTER TABLE usage_carried
  ADD COLUMN archived_requests bigint NOT NULL DEFAULT 0,
  ADD COLUMN archived_nano_usd bigint NOT NULL DEFAULT 0;
