-- Access tokens have the environment that the rule of the issuer names, or that of the session that signed the tool in: one hidden key for
-- each environment. Before, all tokens of an owner in one place had that of the first.
-- Breaks nothing that was released. A process of a build since 0059 goes on with the tokens there are and refreshes them, and answers 500 when
-- it signs in a tool or exchanges a token, until it is replaced.

DROP INDEX api_keys_of_tokens;
CREATE UNIQUE INDEX api_keys_of_tokens
  ON api_keys (account_id, coalesce(user_id, service_account_id), coalesce(project_id, account_id), environment) WHERE is_of_tokens;
