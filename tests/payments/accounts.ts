import type { TestGateway } from '../support/start-test-gateway.ts'

export interface TestAccount {
  readonly accountId: string
  readonly key: string
  readonly keyId: string
}

/** Creates a new account with a key, as the operator. */
export async function createAccount(
  gateway: TestGateway,
  { scopes = ['inference', 'manage'], creditUsd = 0 }: { scopes?: string[]; creditUsd?: number } = {},
): Promise<TestAccount> {
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name: 'Ada', credit_usd: creditUsd },
  })
  const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
    body: { scopes },
  })
  return { accountId: account.id, key: key.key, keyId: key.id }
}

export async function balanceOf(gateway: TestGateway, key: string): Promise<number> {
  const { body } = await gateway.request('GET', '/v1/tenants/me', { key })
  return body.balance_usd
}
