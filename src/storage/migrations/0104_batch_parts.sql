-- Lines of batches that were handed to the batch API of a vendor.
-- Breaks nothing: a new table and a column without a default. No part is made while a process of an earlier release lives.

CREATE TABLE batch_parts (
  -- In the ids of the lines at the vendor.
  id uuid PRIMARY KEY,
  batch_id uuid NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
  provider text NOT NULL,
  -- Names the key of the provider that made it, because vendors show a batch to its own key only.
  key_mark text NOT NULL,
  path text NOT NULL,
  model text NOT NULL,
  -- The moment of the price lists of its lines.
  created_at timestamptz NOT NULL,
  -- When it was first sent. From then on the vendor may have it.
  sent_at timestamptz,
  -- The vendor's id of it. Null while it is not known.
  vendor_id text,
  -- When all of its lines had ended, or were asked one by one.
  over_at timestamptz
);

CREATE INDEX batch_parts_by_batch ON batch_parts (batch_id);
CREATE INDEX batch_parts_of_vendors ON batch_parts (vendor_id) WHERE vendor_id IS NOT NULL;

-- The last part that had the line. Null: it was asked by itself only.
ALTER TABLE batch_lines ADD COLUMN part_id uuid;
