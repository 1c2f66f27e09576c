import { expect } from 'vitest'
import type { TestAnswer, TestGateway } from '../support/start-test-gateway.ts'

export const OWN_PAGE = { 'sec-fetch-site': 'same-origin' }

export interface SignedIn {
  readonly id: string
  readonly cookie: string
  /** Sends a request like a page of the gateway. */
  readonly ask: (method: string, path: string, body?: object) => Promise<TestAnswer>
}

export async function signIn(gateway: TestGateway, key = gateway.key): Promise<SignedIn> {
  const {
    status,
    headers: answered,
    body,
  } = await gateway.request('POST', '/v1/sessions', {
    key: null,
    body: { api_key: key },
  })
  expect(status).toBe(201)
  const cookie = answered.get('set-cookie')?.split(';', 1)[0] ?? ''
  const ask: SignedIn['ask'] = (method, path, sent) =>
    gateway.request(method, path, {
      key: null,
      headers: { ...OWN_PAGE, cookie },
      ...(sent && { body: sent }),
    })
  return { id: body.id, cookie, ask }
}

export async function createKey(
  gateway: TestGateway,
  members: object = {},
): Promise<{ id: string; key: string }> {
  const { body } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
    body: { name: 'browser', env: 'dev', ...members },
  })
  return body
}

export async function createStranger(gateway: TestGateway): Promise<string> {
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name: 'stranger' },
  })
  const { body } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
    body: { env: 'dev', scopes: ['inference', 'manage'] },
  })
  return body.key
}

export const failureOf = ({ status, body }: TestAnswer) => [status, body.error?.code]
