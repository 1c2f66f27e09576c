-- Addresses of mail that get closed statements.
-- Breaks nothing: a column that is empty for what exists.

ALTER TABLE budget_alert_settings ADD COLUMN statement_emails text[] NOT NULL DEFAULT '{}';
