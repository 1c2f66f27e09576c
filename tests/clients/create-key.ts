import type { TestGateway } from '../support/start-test-gateway.ts'

/** Creates a key of the gateway's first account, over the same endpoint as its owner. */
export async function createKey(gateway: TestGateway, settings: Record<string, unknown>): Promise<string> {
  return readKey(await gateway.request('POST', '/v1/tenants/me/api-keys', { body: settings }))
}

/** Creates an account with the given credit and a key for it. */
export async function createAccountKey(
  gateway: TestGateway,
  account: { name: string; credit_usd: number },
): Promise<{ accountId: string; key: string }> {
  const created = await gateway.request('POST', '/v1/admin/accounts', { body: account })
  const accountId: unknown = created.body.id
  if (typeof accountId !== 'string') throw new Error(`no account: ${JSON.stringify(created.body)}`)
  const path = `/v1/admin/accounts/${accountId}/api-keys`
  return { accountId, key: readKey(await gateway.request('POST', path, { body: { env: 'dev' } })) }
}

function readKey(answer: { status: number; body: { key?: unknown } }): string {
  const { key } = answer.body
  if (answer.status !== 201 || typeof key !== 'string') throw new Error(`no key: ${answer.status}`)
  return key
}
