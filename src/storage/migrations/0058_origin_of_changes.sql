-- The program that a change was made with, beside the address that it came from.
-- Breaks nothing: a new column.

ALTER TABLE account_changes ADD COLUMN user_agent text;
