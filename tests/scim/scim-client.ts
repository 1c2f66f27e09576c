import { expect } from 'vitest'
import type { TestAnswer, TestGateway } from '../support/start-test-gateway.ts'

/** A gateway that a test sends requests to. */
type Asked = Pick<TestGateway, 'request'>

/** A directory with a token of an account. */
export interface ScimClient {
  readonly token: string
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>
}

/** Makes a token and returns what a directory sends with it. */
export async function connectDirectory(
  gateway: Asked,
  { key, name = 'Okta', to = gateway }: { key?: string; name?: string; to?: Asked } = {},
): Promise<ScimClient> {
  const made = await gateway.request('POST', '/v1/organization/scim_tokens', {
    ...(key !== undefined && { key }),
    body: { name },
  })
  expect([made.status, made.body]).toEqual([200, made.body])
  return scimClient(to, String(made.body.value))
}

export function scimClient(gateway: Asked, token: string): ScimClient {
  return {
    token,
    request: (method, path, body, headers = {}) =>
      gateway.request(method, `/scim/v2${path}`, {
        key: token,
        headers: { 'content-type': 'application/scim+json', ...headers },
        ...(body !== undefined && { body }),
      }),
  }
}

let people = 0

/** A person as a directory writes them, with an address that no other test uses. */
export function newPerson(
  more: Record<string, unknown> = {},
): Record<string, unknown> & { userName: string } {
  people += 1
  const userName = `person-${people}@example.com`
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName,
    name: { givenName: 'Grace', familyName: `Hopper ${people}` },
    emails: [{ value: userName, type: 'work', primary: true }],
    active: true,
    ...more,
  }
}

/** Creates a person and returns the resource. */
export async function createPerson(client: ScimClient, more: Record<string, unknown> = {}) {
  const { status, body } = await client.request('POST', '/Users', newPerson(more))
  expect([status, body]).toEqual([201, body])
  return body
}
