-- What this database is: an installation of its own, or a restored copy of one; and which key seals its secrets.
-- Breaks nothing: a new table. A process of the release before does not know that a restored copy is paused.

CREATE TABLE installation (
  -- One row.
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- A restore changes it.
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  -- The installation that a backup was made of, and when it was restored.
  restored_from uuid,
  restored_at timestamptz,
  -- Whether it leaves alone what it may share with the installation that it was restored from.
  is_paused boolean NOT NULL DEFAULT false,
  -- Of the key that seals secrets, which itself is not stored.
  sealing_fingerprint text
);

INSERT INTO installation DEFAULT VALUES;
