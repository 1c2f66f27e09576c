-- The price list by which a task is charged, and what its hold counts, for a task that is charged its hold.
-- Breaks nothing: new columns that are null for what exists.

ALTER TABLE tasks ADD COLUMN price_version text, ADD COLUMN held_counted text;
