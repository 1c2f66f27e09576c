import { expect } from 'vitest'
import type { TestGateway } from '../support/start-test-gateway.ts'

export interface User extends TestGateway {
  readonly accountId: string
}

/** Creates an account that no other test uses, and returns the gateway as its key sees it. */
export async function createUser<Gateway extends TestGateway>(
  gateway: Gateway,
  { name = 'A user', creditUsd = 100, scopes = ['inference', 'manage'] } = {},
): Promise<Gateway & User> {
  const made = await gateway.request('POST', '/v1/admin/accounts', { body: { name, credit_usd: creditUsd } })
  const accountId: string = made.body.id
  const path = `/v1/admin/accounts/${accountId}/api-keys`
  const keyed = await gateway.request('POST', path, { body: { name: 'Own key', env: 'dev', scopes } })
  expect([made.status, keyed.status]).toEqual([201, 201])
  const key: string = keyed.body.key
  return {
    ...gateway,
    accountId,
    key,
    request: (method, at, request) => gateway.request(method, at, { key, ...request }),
    fetch: (method, at, request) => gateway.fetch(method, at, { key, ...request }),
  }
}
