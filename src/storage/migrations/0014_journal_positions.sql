-- A commit of charges only reads and locks its process's row, so that it costs an insert and nothing else. The row says which commits
-- are not to be written any more; what became of one whose answer was lost is looked up.
-- Breaks nothing: a gateway of before numbers its commits in borrowers as it did.

-- The number among its borrower's commits. Null from a gateway of before.
ALTER TABLE charge_journal ADD COLUMN sequence bigint;

-- Its pages stay: commits would have to make them again, and wait for whoever takes them away. And vacuum goes at its usual
-- pace, because it shares a core with commits.
ALTER TABLE charge_journal SET (vacuum_truncate = off), RESET (autovacuum_vacuum_cost_delay);

-- Up to which number a borrower's commits are posted: those are not in the journal any more.
CREATE TABLE journal_positions (
  borrower_id uuid PRIMARY KEY,
  sequence bigint NOT NULL
) WITH (fillfactor = 50);
