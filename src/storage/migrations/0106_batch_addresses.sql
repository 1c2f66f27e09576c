-- The address at which the client of a batch reached the gateway, for addresses of images in its answers.
-- Breaks nothing: a new column, which is empty for batches that a process of the release before makes.

ALTER TABLE batches ADD COLUMN base_url text;
