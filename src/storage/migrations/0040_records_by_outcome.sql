-- Finds the records of an account that did not complete, which are few among many.
-- Breaks nothing: an index. While it is built, charges are journalled but not posted (about ten seconds for 20 million records).

CREATE INDEX usage_records_not_completed ON usage_records (account_id, outcome, id) WHERE outcome <> 'completed';
