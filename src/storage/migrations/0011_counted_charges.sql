-- Cells and judgements know which part of their cost was charged under the id they have now, so that an id that is kept, because an
-- answer under it is paid for, is not counted twice.
-- Breaks nothing: what was not ended yet begins with nothing counted, as it was.

-- Within cost_nano_usd, what was charged under request_id.
ALTER TABLE compare_cells ADD COLUMN counted_nano_usd bigint NOT NULL DEFAULT 0 CHECK (counted_nano_usd >= 0);
ALTER TABLE compare_judgements ADD COLUMN counted_nano_usd bigint NOT NULL DEFAULT 0 CHECK (counted_nano_usd >= 0);
