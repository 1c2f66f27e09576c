/** What `{id}` and its like mean under a path. The first that fits counts. */
const IDS: readonly (readonly [prefix: string, param: string, thing: string])[] = [
  ['/v1/batches/', 'id', 'batch'],
  ['/v1/compare/conversations/', 'id', 'compareConversation'],
  ['/v1/compare/datasets/', 'id', 'dataset'],
  ['/v1/compare/runs/', 'run_id', 'run'],
  ['/v1/compare/runs/', 'lane_id', 'lane'],
  ['/v1/conversations/', 'id', 'conversation'],
  ['/v1/conversations/', 'item_id', 'item'],
  ['/v1/deployments/', 'id', 'deployment'],
  ['/v1/files/', 'id', 'uploadedFile'],
  ['/v1/uploads/', 'id', 'upload'],
  ['/v1/grants/', 'id', 'grant'],
  ['/v1/organization/admin_api_keys/', 'key_id', 'adminKey'],
  ['/v1/organization/budget_requests/', 'request_id', 'budgetRequest'],
  ['/v1/organization/budgets/', 'budget_id', 'budget'],
  ['/v1/identities/', 'id', 'identity'],
  ['/v1/organization/users/', 'id', 'identity'],
  ['/v1/organization/invites/', 'invite_id', 'invite'],
  ['/v1/organization/managed_settings/', 'managed_settings_id', 'managedSettings'],
  ['/v1/organization/scim_tokens/', 'token_id', 'scimToken'],
  ['/v1/organization/spend_alerts/', 'alert_id', 'alert'],
  ['/v1/organization/projects/', 'alert_id', 'projectAlert'],
  ['/v1/organization/projects/', 'api_key_id', 'apiKey'],
  ['/v1/organization/projects/', 'issuer_id', 'trustedIssuer'],
  ['/v1/organization/projects/', 'service_account_id', 'serviceAccount'],
  ['/v1/organization/projects/', 'rate_limit_id', 'rateLimit'],
  ['/v1/messages/batches/', 'id', 'messageBatch'],
  ['/v1/projects/', 'role_id', 'projectRole'],
  ['/v1/organization/', 'role_id', 'role'],
  ['/v1/', 'project_id', 'project'],
  ['/v1/', 'group_id', 'group'],
  ['/v1/', 'user_id', 'user'],
  ['/v1/passkeys/', 'id', 'passkey'],
  ['/v1/payments/', 'id', 'payment'],
  ['/v1/requests/', 'request_id', 'request'],
  ['/v1/responses/', 'id', 'response'],
  ['/v1/saved-chats/', 'id', 'savedChat'],
  ['/v1/sessions/', 'id', 'session'],
  ['/v1/tasks/', 'id', 'task'],
  ['/v1/tenants/me/api-keys/', 'id', 'apiKey'],
  ['/v1/webhook-deliveries/', 'id', 'delivery'],
]

/** Names of public things, which belong to nobody. */
export const OF_EVERYBODY: Readonly<Record<string, string>> = { rateLimit: 'rl-gpt-5.4' }

/**
 * Operations with an id in their path that is nobody's, or that are not for clients. Any other operation is walked, so that a new one
 * cannot be forgotten.
 */
const NOT_WALKED: readonly (readonly [operations: RegExp, why: string])[] = [
  [/^\w+ \/v1\/admin\//, 'operators reach every account'],
  [/^\w+ \/scim\//, 'a directory with its own token, see tests/scim/other-accounts.test.ts'],
  [/^GET (\/anthropic)?\/v1\/models\//, 'models are public'],
  [/^\w+ \/v1\/deployments\/prefetch\//, 'the name of a public model; each account has its own downloads'],
  [/^\w+ \/(checkout|media)\//, 'the address itself is signed, and is the right'],
  [/^\w+ \/v1\/sessions\/directory\//, 'an identity provider of the gateway, which its sign-in page names'],
  [/^GET \/v1\/statements\//, 'a month of the calendar; the account is that of the key'],
  [/^GET \/v1\/organization\/receipts\//, 'every account counts from 1; the account is that of the key'],
  [/^POST \/v1\/payments\/webhook\//, 'the name of a payment provider, whose signature is checked'],
]

export function isWalked(operation: string): boolean {
  return operation.includes('{') && !NOT_WALKED.some(([pattern]) => pattern.test(operation))
}

/** Returns for each parameter of the path what it is the id of. */
export function idsIn(operation: string): readonly (readonly [param: string, thing: string])[] {
  const path = operation.slice(operation.indexOf('/'))
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => {
    const found = IDS.find(([prefix, name]) => path.startsWith(prefix) && name === param)
    if (found === undefined) throw new Error(`say in path-ids.ts what '${param}' of '${operation}' is`)
    return [param, found[2]]
  })
}
