-- Passkeys of people, the challenges that they answer, and links for people who lost theirs.
-- Breaks nothing: new tables.

CREATE TABLE passkeys (
  id uuid PRIMARY KEY,
  -- A passkey belongs to a member of one account and opens only that: nothing proves that two accounts mean the same person by an address.
  account_id uuid NOT NULL,
  user_id uuid NOT NULL,
  -- As the authenticator names it. Unique everywhere, so that nobody can register the name of another's.
  credential_id bytea NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  -- What the authenticator keeps beside the passkey. The same for all of a member, so that one device holds one.
  user_handle bytea NOT NULL,
  -- The host that it was made for. Browsers use it only there.
  rp_id text NOT NULL,
  -- How often the authenticator says that it was used. It never goes back, unless somebody has a copy.
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  -- Whether the maker of the device keeps a copy for the person's other devices.
  is_synced boolean NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  -- When it was refused because its counter went back.
  doubted_at timestamptz,
  FOREIGN KEY (account_id, user_id) REFERENCES account_members (account_id, user_id) ON DELETE CASCADE
);

CREATE INDEX passkeys_by_member ON passkeys (account_id, user_id, id);

CREATE TABLE passkey_challenges (
  -- Only a hash is stored: reading this table does not help to answer.
  challenge_hash bytea PRIMARY KEY,
  purpose text NOT NULL CHECK (purpose IN ('sign-in', 'confirm', 'register', 'join')),
  -- A hash of what the answer has to come from: a cookie of the browser, its session, or the code of a link.
  bound_to bytea NOT NULL,
  user_handle bytea,
  -- The network that asked, for a limit. Null for people who are signed in.
  network text,
  expires_at timestamptz NOT NULL
);

CREATE INDEX passkey_challenges_by_expiry ON passkey_challenges (expires_at);
CREATE INDEX passkey_challenges_by_network ON passkey_challenges (network, expires_at) WHERE network IS NOT NULL;

-- Links that let a member in once who has lost every way in. Like an invitation, for somebody who is there already.
CREATE TABLE recovery_links (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  user_id uuid NOT NULL,
  code_hash bytea NOT NULL UNIQUE,
  -- Whether the passkeys and sessions of before end when the link is used.
  ends_passkeys boolean NOT NULL,
  -- Of the key of the session.
  environment text NOT NULL,
  -- Null: made with a key of the account itself.
  made_by uuid REFERENCES users (id) ON DELETE CASCADE,
  -- Whether whoever made it operates the gateway: nobody else lets an operator in.
  may_operate boolean NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  FOREIGN KEY (account_id, user_id) REFERENCES account_members (account_id, user_id) ON DELETE CASCADE,
  UNIQUE (account_id, user_id)
);
