import { expect } from 'vitest'
import type { TestAnswer, TestGateway } from '../support/start-test-gateway.ts'

/** A gateway that a test sends requests to. */
export type Asked = Pick<TestGateway, 'key' | 'request'>

export interface Person {
  /** `user-…` */
  readonly id: string
  readonly email: string
  /** What a page of the gateway sends in the session of the person. */
  readonly headers: Readonly<Record<string, string>>
  /** Sends a request in the session of the person. */
  request(method: string, path: string, body?: unknown): Promise<TestAnswer>
}

interface Invitation {
  readonly email: string
  readonly role?: string
  readonly projects?: readonly { readonly id: string; readonly role: string }[]
  readonly name?: string
  /** The key that invites. */
  readonly key?: string
}

const OWN_PAGE = { 'sec-fetch-site': 'same-origin' }

/** Invites a person and accepts the invitation. */
export async function joinAccount(gateway: Asked, invitation: Invitation): Promise<Person> {
  const { email, role = 'reader', projects = [], name = 'Grace', key = gateway.key } = invitation
  const invited = await gateway.request('POST', '/v1/organization/invites', {
    key,
    body: { email, role, projects },
  })
  expect([invited.status, invited.body]).toEqual([200, invited.body])
  const accepted = await gateway.request('POST', '/v1/invites/accept', {
    key: null,
    body: { code: invited.body.code, name },
  })
  expect([accepted.status, accepted.body]).toEqual([201, accepted.body])
  const cookie = accepted.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const query = `?emails[]=${encodeURIComponent(email)}`
  const { body: found } = await gateway.request('GET', `/v1/organization/users${query}`, { key })
  const headers = { cookie, ...OWN_PAGE }
  return {
    id: found.data[0].id,
    email,
    headers,
    request: (method, path, body) =>
      gateway.request(method, path, {
        key: null,
        headers,
        ...(body === undefined ? {} : { body }),
      }),
  }
}

/** Makes a project and returns its id. */
export async function createProject(gateway: Asked, name = 'Search', key = gateway.key): Promise<string> {
  const { status, body } = await gateway.request('POST', '/v1/organization/projects', { key, body: { name } })
  expect(status).toBe(200)
  return String(body.id)
}

/** Makes a key of the account in a project. */
export async function createProjectKey(
  gateway: Asked,
  projectId: string,
  { scopes = ['inference', 'manage'], key = gateway.key }: { scopes?: string[]; key?: string } = {},
): Promise<string> {
  const { status, body } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
    key,
    body: { name: 'of a project', project_id: projectId, scopes },
  })
  expect([status, body]).toEqual([201, body])
  return String(body.key)
}

const CHAT = { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }

/** Returns the status of a chat request with this key. */
export async function chatStatus(gateway: Asked, key: string): Promise<number> {
  const { status } = await gateway.request('POST', '/v1/chat/completions', { key, body: CHAT })
  return status
}
