-- How the hosts of an offered provider are reached, and what its vendor promises.
-- Breaks nothing: new columns. A process of the release before reaches them directly, and verifies them as usual.

ALTER TABLE offered_providers
  -- Without its password, which is sealed or read from a reference.
  ADD COLUMN proxy_url text,
  ADD COLUMN proxy_username text,
  ADD COLUMN sealed_proxy_password bytea,
  ADD COLUMN wrapped_proxy_key bytea,
  ADD COLUMN proxy_password_reference text,
  -- Certificates in PEM, or `file:/path`.
  ADD COLUMN certificate_authority text,
  -- Where the vendor works, and how many days it keeps prompts and answers. Null: it promises nothing.
  ADD COLUMN regions text[] NOT NULL DEFAULT '{}',
  ADD COLUMN retention_days integer CHECK (retention_days >= 0),
  ADD CHECK ((sealed_proxy_password IS NULL) = (wrapped_proxy_key IS NULL)),
  ADD CHECK (sealed_proxy_password IS NULL OR proxy_password_reference IS NULL),
  ADD CHECK (proxy_url IS NOT NULL OR (proxy_username IS NULL AND wrapped_proxy_key IS NULL));
