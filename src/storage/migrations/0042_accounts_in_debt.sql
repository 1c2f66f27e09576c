-- Finds the accounts that owe something, which are few among many, for the operator's list of what needs attention.
-- Breaks nothing: an index on a table with one row for each account.

CREATE INDEX credit_accounts_in_debt ON credit_accounts (account_id) INCLUDE (debt_nano_usd) WHERE debt_nano_usd > 0;
