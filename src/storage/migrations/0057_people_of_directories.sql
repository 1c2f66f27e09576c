-- People and groups that a company's directory manages, and where a change came from.
-- Breaks nothing: new columns. A process of the release before does not refuse somebody whom the directory switched off meanwhile.

ALTER TABLE account_members
  -- The directory of the account switched the person off. Their keys and sessions in this account are refused; other accounts are not touched.
  ADD COLUMN suspended_at timestamptz;

-- The name of the group in the directory: whoever has it there is in this group.
ALTER TABLE groups ADD COLUMN directory_name text;
CREATE UNIQUE INDEX groups_by_directory_name ON groups (account_id, directory_name) WHERE directory_name IS NOT NULL;

-- Who put the person into the group: somebody of the account, a sign-in with the directory, or the directory itself.
ALTER TABLE group_members ADD COLUMN source text NOT NULL DEFAULT 'member' CHECK (source IN ('member', 'sign-in', 'scim'));

ALTER TABLE account_changes
  -- The address that the request came from.
  ADD COLUMN ip_address text,
  -- What made the change if it was no key: a directory, by its name.
  ADD COLUMN actor_name text;
