-- In which ways people sign in to an account. Without a row: in all.
-- Breaks nothing: a new table. A process of the release before lets people in by all ways.

CREATE TABLE sign_in_policies (
  account_id uuid PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  methods text[] NOT NULL CHECK (cardinality(methods) > 0 AND methods <@ ARRAY['directory', 'passkey', 'key']),
  updated_at timestamptz NOT NULL
);
