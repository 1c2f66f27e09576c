-- A commit of charges only reads and locks its process's row, so that it costs an insert and nothing else. The row says which commits
-- are not to be written any more; what became of one whose answer was lost is looked up.
-- Breaks nothing: a gateway of before numbers its commits in borrowers as it did.

-- Up to which number a borrower's commits are posted: those are not in the journal any more.
CREATE TABLE journal_positions (
  borrower_id uuid PRIMARY KEY,
  sequence bigint NOT NULL
) WITH (fillfactor = 50);
