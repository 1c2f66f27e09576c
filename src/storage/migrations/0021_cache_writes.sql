-- Usage tells how much of a prompt was written to a vendor's cache.
-- Breaks nothing: a gateway of before writes none, which is what it could tell.

ALTER TABLE usage_records ADD COLUMN cache_write_tokens bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_rollups ADD COLUMN cache_write_tokens bigint NOT NULL DEFAULT 0;
