/** Example request bodies of operations whose schema has no example, by method and path. */
export const BODY_EXAMPLES: Readonly<Record<string, object>> = {
  'PATCH /v1/compare/datasets/{id}': { name: 'Support questions', description: 'Real questions of October' },
  'POST /v1/compare/runs/{run_id}/lanes/{lane_id}/winner': {
    prompt_index: 0,
    reason: 'It answers the question.',
  },
  'PATCH /v1/compare/conversations/{id}': { name: 'Tone of voice', system: 'Answer in one sentence.' },
  'POST /v1/tenants/me/api-keys': { name: 'laptop', scopes: ['inference'], limit_usd: 10 },
  'POST /v1/tenants/me/api-keys/{id}/rotate': { overlap_seconds: 86_400 },
  'PATCH /v1/tenants/me/api-keys/{id}': { name: 'laptop, old', limit_usd: 5 },
  'POST /v1/payments/checkout': { amount_usd: 25 },
  'POST /v1/payments/saved-card': { success_url: 'https://example.com/billing' },
  'POST /v1/promo/redeem': { code: 'WELCOME' },
  'POST /v1/admin/accounts': { name: 'Example GmbH' },
  'POST /v1/admin/requests/{request_id}/replay': {
    account_id: '01a1ea6c-2653-7167-8fd4-30e6d667493c',
    provider: 'basement',
  },
  'POST /v1/admin/accounts/{id}/api-keys': { name: 'first key', scopes: ['inference', 'manage'] },
  'PATCH /v1/admin/accounts/{id}': { note: 'Pays by invoice.' },
  'POST /v1/admin/accounts/{id}/suspend': { reason: 'Invoice 17 is not paid.' },
  'POST /v1/admin/accounts/{id}/credit': { amount_usd: 20, reason: 'Paid by invoice 17' },
  'PATCH /v1/admin/accounts/{id}/api-keys/{key_id}': { name: 'first key, old', requests_per_minute: 60 },
  'PATCH /v1/admin/accounts/{id}/budget': { monthly_usd: 500, daily_usd: 50 },
  'POST /v1/admin/payments/{id}/refund': { amount_usd: 5 },
  'POST /v1/admin/promo-codes': { code: 'WELCOME', amount_usd: 5, redemptions_max: 100 },
}
