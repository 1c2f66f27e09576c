-- Charges of a group commit are one row, so that a commit costs what one row costs. A moment later they are posted: taken
-- out of here and written to leases, usage, sums and entries in one transaction. Until then a lease and the totals of its
-- caps both lack them, so that what may still be lent is exact at any time; who reads the books posts first.
-- Breaks nothing: a gateway of before charges as it did.

CREATE TABLE charge_journal (
  borrower_id uuid NOT NULL,
  -- The number among its borrower's commits, from 1 on and without gaps.
  sequence bigint NOT NULL,
  -- Charges, as modules/ledger/journal-text.ts writes them. They are read when they
  -- are posted: an answer waits for this row, and one column costs less than several. Null where nothing was committed under this
  -- number, and nothing can be any more.
  charges text,
  -- Why it cannot be posted: a defect, which `parkway ledger verify` reports.
  refusal text,
  PRIMARY KEY (borrower_id, sequence)
) WITH (
  -- Rows live for seconds: their room is wanted back soon.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  -- Its pages stay: commits would have to make them again, and wait for whoever takes them away.
  vacuum_truncate = off,
  -- A commit of usual size stays in one piece, and none is worth compressing.
  toast_tuple_target = 8160
);

ALTER TABLE charge_journal ALTER COLUMN charges SET STORAGE EXTERNAL;

-- Up to which number a borrower's commits are posted: those are not in the journal any more.
CREATE TABLE journal_positions (
  borrower_id uuid PRIMARY KEY,
  sequence bigint NOT NULL
) WITH (fillfactor = 50);
