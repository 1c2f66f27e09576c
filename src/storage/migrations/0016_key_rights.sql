-- What a key may pass on: the root key of an account, and keys made by a restricted key.
-- Breaks nothing: new columns with defaults, and a function that adds what such keys spent to the key that made them.

ALTER TABLE api_keys
  -- May lift the restrictions of the account's keys.
  ADD COLUMN is_root boolean NOT NULL DEFAULT false,
  -- The restricted key that made it: what it spends and asks counts under that key's limits too.
  ADD COLUMN parent_id uuid REFERENCES api_keys (id) ON DELETE CASCADE;

CREATE INDEX api_keys_by_parent ON api_keys (parent_id) WHERE parent_id IS NOT NULL;

UPDATE api_keys SET is_root = true WHERE id IN (
  SELECT DISTINCT ON (account_id) id FROM api_keys
  WHERE revoked_at IS NULL AND 'manage' = ANY (scopes) AND allowed_models IS NULL AND limit_nano_usd IS NULL
    AND requests_per_minute IS NULL AND expires_at IS NULL
  ORDER BY account_id, id);

CREATE OR REPLACE FUNCTION spent_under(scope text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  kind text := split_part(scope, ':', 1);
  owner uuid := split_part(scope, ':', 2)::uuid;
  first_day date;
BEGIN
  IF kind = 'key' THEN
    RETURN coalesce((SELECT sum(spent_nano_usd) FROM spend_by_day WHERE key_id = owner), 0)
      + coalesce((SELECT sum(spent_nano_usd) FROM spend_by_day
          WHERE key_id IN (SELECT id FROM api_keys WHERE parent_id = owner)), 0);
  END IF;
  first_day := to_date(split_part(scope, ':', 3), 'YYYY-MM-DD');
  RETURN coalesce((
    SELECT sum(spent_nano_usd) FROM spend_by_day
    WHERE account_id = owner AND day >= first_day AND day < first_day + format('1 %s', kind)::interval), 0);
END $$;
