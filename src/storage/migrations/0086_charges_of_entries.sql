-- What a charge of the ledger is made of: one part for each key and model, the dearest first.
-- Breaks nothing: a column that is null for what exists and for what processes of the release before write.

-- An array of [key id, model, requests, nano-dollars as text], which adds up to the amount of the entry.
ALTER TABLE ledger_entries ADD COLUMN charges jsonb;
