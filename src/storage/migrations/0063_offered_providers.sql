-- Providers that operators add and change while the gateway runs.
-- Breaks nothing: new tables. A process of the release before does not know these providers.

-- Every change of what is offered has the next version. Processes that missed a message find it here.
CREATE TABLE offer_state (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  version bigint NOT NULL
);
INSERT INTO offer_state (version) VALUES (0);

CREATE TABLE offered_providers (
  name text PRIMARY KEY,
  -- Null: a server of the operator's own.
  vendor text,
  base_url text,
  -- The wires that it speaks besides chat. Null: those of its vendor.
  wires text[],
  allowed_members text[] NOT NULL DEFAULT '{}',
  -- Their values may be secrets, so they are sealed together.
  header_names text[] NOT NULL DEFAULT '{}',
  sealed_headers bytea,
  wrapped_headers_key bytea,
  connect_ms integer,
  first_byte_ms integer,
  idle_ms integer,
  is_enabled boolean NOT NULL,
  -- That of its last change.
  version bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CHECK ((sealed_headers IS NULL) = (wrapped_headers_key IS NULL))
);

CREATE TABLE provider_credentials (
  id uuid PRIMARY KEY,
  provider text NOT NULL REFERENCES offered_providers (name) ON DELETE CASCADE,
  -- Sealed with a key of its own, which is sealed with that of the gateway, so that another key of the gateway needs only the latter anew.
  sealed bytea,
  wrapped_key bytea,
  -- The end of the secret, if it is long enough to show it.
  last_four text,
  -- Where the secret is read instead: `env:NAME` or `file:/path`.
  reference text,
  weight integer NOT NULL CHECK (weight > 0),
  position integer NOT NULL,
  created_at timestamptz NOT NULL,
  CHECK ((sealed IS NULL) = (wrapped_key IS NULL)),
  CHECK ((sealed IS NULL) <> (reference IS NULL))
);

CREATE INDEX provider_credentials_by_provider ON provider_credentials (provider, position);
