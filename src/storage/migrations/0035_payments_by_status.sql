-- Finds payments of all accounts by their status, newest first.
-- Breaks nothing: a new index.

CREATE INDEX payments_by_status ON payments (status, id);
