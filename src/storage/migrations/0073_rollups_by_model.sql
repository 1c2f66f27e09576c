-- Finds who uses a model among all accounts, for models that will end.
-- Breaks nothing: an index. While it is built, charges are journalled but not posted (about seven seconds for a million rows of rollups).

CREATE INDEX usage_rollups_by_model ON usage_rollups (model, hour);
