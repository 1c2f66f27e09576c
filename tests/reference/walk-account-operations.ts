import { walkBatches, walkUploads } from './walk-batch-operations.ts'
import type { MakeCall } from './walk-call.ts'

/** A model of the catalog at another price. */
const LISTED = {
  litellm_provider: 'openai',
  mode: 'chat',
  input_cost_per_token: 3e-6,
  output_cost_per_token: 1.6e-5,
}

/** Operations on the account of the caller. */
export async function walkAccount(call: MakeCall): Promise<void> {
  await call('GET /v1/tenants/me')
  await call('GET /v1/tenants/me/permissions')
  const { id } = await call('POST /v1/tenants/me/api-keys')
  await call('GET /v1/tenants/me/api-keys')
  await call('GET /v1/tenants/me/api-keys/{id}', { params: { id } })
  await call('PATCH /v1/tenants/me/api-keys/{id}', { params: { id } })
  await call('POST /v1/tenants/me/api-keys/{id}/rotate', { params: { id } })
  await call('DELETE /v1/tenants/me/api-keys/{id}', { params: { id } })
  const views = [
    'budget',
    'summary',
    'today',
    'timeseries',
    'spending',
    'gpu-billing',
    'records',
    'latency',
    'anomalies',
  ]
  for (const view of views) await call(`GET /v1/usage/${view}`)
  await call('GET /v1/deprecations')
  await call('PATCH /v1/budget-alerts/settings')
  await call('GET /v1/budget-alerts/settings')
  await call('GET /v1/budget-alerts')
  const { data: statements } = await call('GET /v1/statements')
  await call('GET /v1/statements/{month}', { params: { month: statements[0].month } })
  await call('GET /v1/organization/receipts')
  await call('GET /v1/organization/receipts/keys')
  const { data: requests } = await call('GET /v1/requests')
  await call('GET /v1/requests/{request_id}', { params: { request_id: requests[0].request_id } })
  const file = await call('POST /v1/files')
  await call('GET /v1/files')
  await call('GET /v1/files/{id}', { params: { id: file.id } })
  await call('GET /v1/files/{id}/content', { params: { id: file.id } })
  await call('DELETE /v1/files/{id}', { params: { id: file.id } })
  await walkUploads(call)
  await walkBatches(call)
  const chat = await call('POST /v1/saved-chats')
  await call('GET /v1/saved-chats')
  await call('GET /v1/saved-chats/{id}', { params: { id: chat.id } })
  await call('PATCH /v1/saved-chats/{id}', { params: { id: chat.id } })
  await call('DELETE /v1/saved-chats/{id}', { params: { id: chat.id } })
  await call('GET /v1/body-storage')
  await call('PATCH /v1/body-storage')
  await call('POST /v1/rerank')
  const { data: stored } = await call('GET /v1/requests', { query: '?operation=rerank' })
  await call('GET /v1/requests/{request_id}/body', { params: { request_id: stored[0].request_id } })
  await call('PATCH /v1/tenants/me')
  await call('GET /v1/payments/config')
  await call('POST /v1/payments/saved-card')
  await call('PATCH /v1/payments/auto-top-up')
  await call('GET /v1/payments/auto-top-up')
  await call('DELETE /v1/payments/saved-card')
  const payment = await call('POST /v1/payments/checkout')
  await call('GET /v1/payments/{id}', { params: { id: payment.id } })
  const code = await call('POST /v1/admin/promo-codes')
  await call('POST /v1/promo/redeem')
  await call('GET /v1/payments/history')
  await call('GET /v1/ledger')
  const params = { id: code.id }
  await call('GET /v1/admin/promo-codes')
  await call('GET /v1/admin/promo-codes/{id}', { params })
  await call('GET /v1/admin/promo-codes/{id}/redemptions', { params })
  await call('POST /v1/admin/promo-codes/{id}/disable', { params, body: null })
}

/** Operations of operators. */
export async function walkOperator(call: MakeCall): Promise<void> {
  const { id } = await call('POST /v1/admin/accounts')
  const params = { id }
  const key = await call('POST /v1/admin/accounts/{id}/api-keys', { params })
  await call('GET /v1/admin/accounts/{id}/api-keys', { params })
  await call('PATCH /v1/admin/accounts/{id}/api-keys/{key_id}', { params: { id, key_id: key.id } })
  await call('DELETE /v1/admin/accounts/{id}/api-keys/{key_id}', { params: { id, key_id: key.id } })
  await call('POST /v1/admin/accounts/{id}/credit', { params })
  await call('PATCH /v1/admin/accounts/{id}/budget', { params })
  await call('GET /v1/admin/accounts/{id}/budget', { params })
  await call('PATCH /v1/admin/accounts/{id}/limits', { params })
  await call('GET /v1/admin/accounts/{id}/limits', { params })
  await call('GET /v1/admin/accounts/{id}/usage/timeseries', { params, query: '?window=24h' })
  await call('GET /v1/admin/accounts/{id}/ledger', { params })
  await call('GET /v1/admin/accounts/{id}/payments', { params })
  const month = new Date().toISOString().slice(0, 'YYYY-MM'.length)
  await call('GET /v1/admin/accounts/{id}/statements/{month}', { params: { id, month } })
  await call('GET /v1/admin/statements', { query: `?month=${month}&limit=1` })
  await call('GET /v1/admin/payments', { query: `?account_id=${id}` })
  await call('PATCH /v1/admin/accounts/{id}', { params })
  await call('POST /v1/admin/accounts/{id}/suspend', { params })
  await call('POST /v1/admin/accounts/{id}/activate', { params, body: null })
  await call('GET /v1/admin/accounts')
  await call('GET /v1/admin/accounts/{id}', { params })
  await call('GET /v1/admin/usage')
  await call('GET /v1/admin/usage/timeseries', { query: '?by=model' })
  const { id: accountId } = await call('GET /v1/tenants/me')
  const query = `?account_id=${accountId}`
  // That of the account whose bodies are stored.
  const { data: requests } = await call('GET /v1/admin/requests', { query: `${query}&operation=rerank` })
  await call('GET /v1/admin/requests/{request_id}', {
    params: { request_id: requests[0].request_id },
    query,
  })
  await call('GET /v1/admin/request_errors')
  await call('GET /v1/admin/requests/{request_id}/body', {
    params: { request_id: requests[0].request_id },
    query,
  })
  await call('PATCH /v1/admin/accounts/{id}/body-storage', { params })
  await call('GET /v1/admin/accounts/{id}/body-storage', { params })
  await call('GET /v1/admin/audit')
  await call('POST /v1/admin/models')
  const model = { id: 'our-llama' }
  await call('GET /v1/admin/models')
  await call('GET /v1/admin/models/{id}', { params: model })
  await call('PATCH /v1/admin/models/{id}', { params: model })
  const price = await call('POST /v1/admin/models/{id}/prices', {
    params: model,
    body: {
      price: { unit: 'token', input_usd_per_1m: 0.2, output_usd_per_1m: 0.4 },
      effective_from: new Date(Date.now() + 86_400_000).toISOString(),
    },
  })
  await call('GET /v1/admin/models/{id}/prices', { params: model })
  await call('DELETE /v1/admin/models/{id}/prices/{version}', { params: { ...model, version: price.id } })
  const adjustment = await call('POST /v1/admin/price_adjustments', {
    body: { model: model.id, percent: 12.5, reason: 'Our markup on what vendors charge.' },
  })
  const adjusted = { id: adjustment.id }
  await call('GET /v1/admin/price_adjustments')
  await call('GET /v1/admin/price_adjustments/{id}', { params: adjusted })
  await call('PATCH /v1/admin/price_adjustments/{id}', { params: adjusted })
  await call('DELETE /v1/admin/price_adjustments/{id}', { params: adjusted })
  await call('DELETE /v1/admin/models/{id}', { params: model })
  await call('GET /v1/admin/deprecations')
  await call('GET /v1/admin/deprecations/{id}/keys', { params: { id: 'gpt-5.4' } })
  const list = { format: 'litellm', text: JSON.stringify({ 'gpt-5.4': LISTED }) }
  const { digest } = await call('POST /v1/admin/price_imports', { body: list })
  await call('POST /v1/admin/price_imports/apply', { body: { ...list, digest, models: ['gpt-5.4'] } })
  await call('GET /v1/admin/config/export')
  await call('POST /v1/admin/config/apply')
  await call('GET /v1/admin/provider_health')
  await call('GET /v1/admin/doctor')
  await call('GET /v1/admin/exports')
  await call('POST /v1/admin/providers')
  await call('GET /v1/admin/providers')
  const provider = { name: 'basement' }
  await call('GET /v1/admin/providers/{name}', { params: provider })
  await call('PATCH /v1/admin/providers/{name}', { params: provider })
  await call('DELETE /v1/admin/providers/{name}', { params: provider })
  await call('GET /healthz')
  await call('GET /readyz')
  await call('GET /status.json')
}
