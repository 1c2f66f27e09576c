-- Where people sign in with an account of their company: OpenID Connect providers, and who somebody is there.
-- Breaks nothing: new tables, and a new column with a default.

CREATE TABLE identity_providers (
  id uuid PRIMARY KEY,
  -- The account of the operator who added it. Its operator groups make people operators as members of this account only.
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name text NOT NULL,
  -- Never changes: a subject of another issuer is another person.
  issuer text NOT NULL,
  client_id text NOT NULL,
  -- Sealed. Null for a public client.
  client_secret bytea,
  scopes text[] NOT NULL,
  -- Null: the groups of people are not followed.
  groups_claim text,
  -- Empty: any domain.
  allowed_domains text[] NOT NULL DEFAULT '{}',
  needs_verified_email boolean NOT NULL DEFAULT true,
  -- How the account of a person is found: the same for everybody, by the domain of the e-mail address, by a group, only where the person is
  -- invited or a member, or one of their own.
  account_rule text NOT NULL CHECK (account_rule IN ('fixed', 'domain', 'group', 'invited', 'own')),
  -- Whether people become members at their first sign-in, and what they become.
  makes_members boolean NOT NULL DEFAULT false,
  member_role text NOT NULL DEFAULT 'reader',
  -- Whether somebody who is a member by their e-mail address, and has never signed in with a provider, may do so with this one.
  links_members boolean NOT NULL DEFAULT false,
  operator_groups text[] NOT NULL DEFAULT '{}',
  operator_reader_groups text[] NOT NULL DEFAULT '{}',
  -- Of the keys of its sessions.
  environment text NOT NULL,
  is_enabled boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- For operators: what happened last.
  last_sign_in_at timestamptz,
  last_failure_at timestamptz,
  last_failure text,
  -- When the provider last left out the groups of somebody who has too many of them.
  groups_missing_at timestamptz
);

-- The accounts that a provider speaks for, in the order in which they are tried. `match` is a domain or a group, by the rule.
CREATE TABLE identity_provider_accounts (
  provider_id uuid NOT NULL REFERENCES identity_providers (id) ON DELETE CASCADE,
  position integer NOT NULL,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  match text NOT NULL DEFAULT '',
  PRIMARY KEY (provider_id, position)
);

CREATE INDEX identity_provider_accounts_by_account ON identity_provider_accounts (account_id);

-- Who somebody at a provider is in one account. It opens this account only, and goes with the membership.
CREATE TABLE identities (
  provider_id uuid NOT NULL REFERENCES identity_providers (id) ON DELETE CASCADE,
  subject text NOT NULL,
  account_id uuid NOT NULL,
  user_id uuid NOT NULL,
  -- As the provider said it last.
  email text,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (provider_id, subject, account_id),
  UNIQUE (provider_id, account_id, user_id),
  FOREIGN KEY (account_id, user_id) REFERENCES account_members (account_id, user_id) ON DELETE CASCADE
);

CREATE INDEX identities_by_member ON identities (account_id, user_id);

-- What works once: the begin of a sign-in, and the tokens with which a provider ends sessions.
CREATE TABLE used_directory_tokens (
  provider_id uuid NOT NULL REFERENCES identity_providers (id) ON DELETE CASCADE,
  token_hash bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (provider_id, token_hash)
);

CREATE INDEX used_directory_tokens_by_end ON used_directory_tokens (expires_at);

-- Who made somebody an operator: another operator, or a group of the directory, which also takes it away.
ALTER TABLE operators ADD COLUMN source text NOT NULL DEFAULT 'member' CHECK (source IN ('member', 'sign-in'));
