-- Why an account is suspended, which it is told, and notes of operators about accounts.
-- Breaks nothing: columns that are null for what exists. A process of the release before suspends without a reason.

ALTER TABLE accounts
  ADD COLUMN suspended_reason text,
  ADD COLUMN note text;
