-- Accounts and projects whose prompts and answers are not stored.
-- Breaks nothing: new columns. A process of the release before does not know them, and goes on to store responses.

ALTER TABLE accounts ADD COLUMN is_zero_retention boolean NOT NULL DEFAULT false;
ALTER TABLE projects ADD COLUMN is_zero_retention boolean NOT NULL DEFAULT false;
