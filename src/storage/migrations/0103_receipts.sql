-- Signed receipts of what each account was charged a day, by which its bill is checked without trusting this database.
-- Breaks nothing: new tables.

CREATE TABLE receipt_keys (
  id uuid PRIMARY KEY,
  -- DER in base64.
  public_key text NOT NULL,
  -- Null if its secret was lost. The public key stays, so that older receipts can be checked.
  sealed_private_key bytea,
  created_at timestamptz NOT NULL,
  retired_at timestamptz
);

-- Which days of UTC have receipts, and how often late records were looked for.
CREATE TABLE receipt_days (
  day date PRIMARY KEY,
  looks smallint NOT NULL DEFAULT 0,
  looked_at timestamptz NOT NULL,
  -- Whether the hashes of its records are still kept.
  has_leaves boolean NOT NULL DEFAULT true
);

CREATE TABLE receipts (
  account_id uuid NOT NULL,
  -- Without gaps, from 1.
  number integer NOT NULL,
  day date NOT NULL,
  records bigint NOT NULL DEFAULT 0,
  -- What is signed. Null while the receipt is being made.
  statement text,
  signature text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, number),
  CHECK ((statement IS NULL) = (signature IS NULL))
);

CREATE INDEX receipts_by_day ON receipts (day, account_id);

-- The records of a receipt, ordered by id: 16 bytes of the id and 16 of a hash each.
CREATE TABLE receipt_leaves (
  account_id uuid NOT NULL,
  number integer NOT NULL,
  part integer NOT NULL,
  first_id uuid NOT NULL,
  last_id uuid NOT NULL,
  leaves bytea NOT NULL,
  PRIMARY KEY (account_id, number, part),
  FOREIGN KEY (account_id, number) REFERENCES receipts (account_id, number) ON DELETE CASCADE
);

-- Hashes do not compress.
ALTER TABLE receipt_leaves ALTER COLUMN leaves SET STORAGE EXTERNAL;
