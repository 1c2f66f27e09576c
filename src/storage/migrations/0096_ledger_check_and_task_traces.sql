-- When the rules of the ledger were last checked, and how many were found broken; the trace that a task belongs to.
-- Breaks nothing: a new table with one row at most, and a column that processes of the release before leave empty.

CREATE TABLE ledger_check (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- A check that was begun and not finished within an hour is begun again.
  begun_at timestamptz NOT NULL,
  checked_at timestamptz,
  differences integer NOT NULL DEFAULT 0 CHECK (differences >= 0)
);

-- The client's W3C header, for the spans of the work.
ALTER TABLE tasks ADD COLUMN traceparent text CHECK (length(traceparent) <= 128);
