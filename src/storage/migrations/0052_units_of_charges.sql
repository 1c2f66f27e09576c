-- How many images, characters or seconds were charged, for operations that are counted so.
-- Breaks nothing: columns with a constant default, which rewrite no table. A process of the release before writes 0.

ALTER TABLE usage_records ADD COLUMN units bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_rollups ADD COLUMN units bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_by_label ADD COLUMN units bigint NOT NULL DEFAULT 0;
