import { expect } from 'vitest'
import type { TestAnswer, TestGateway } from '../support/start-test-gateway.ts'
import { createCredential, useCredential, type SoftwarePasskey } from './software-authenticator.ts'

/** Where the pages of the tests are: browsers make no passkeys for an IP address. */
export const ORIGIN = 'http://localhost:8080'
export const PAGE = { 'sec-fetch-site': 'same-origin', origin: ORIGIN }

type Gateway = Pick<TestGateway, 'key' | 'request'>

/** A browser with its cookies. */
export interface TestBrowser {
  readonly cookies: Map<string, string>
  post(path: string, body?: unknown): Promise<TestAnswer>
  ask(method: string, path: string, body?: unknown): Promise<TestAnswer>
}

export function openBrowser(gateway: Gateway, headers: Record<string, string> = PAGE): TestBrowser {
  const cookies = new Map<string, string>()
  const ask: TestBrowser['ask'] = async (method, path, body) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await gateway.request(method, path, {
      key: null,
      headers: { ...headers, ...(cookie !== '' && { cookie }) },
      ...(body !== undefined && { body }),
    })
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';', 1)
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    return answer
  }
  return { cookies, ask, post: (path, body) => ask('POST', path, body) }
}

let count = 0

export async function invite(
  gateway: Gateway,
  { email, role = 'reader', key = gateway.key }: { email?: string; role?: string; key?: string } = {},
): Promise<{ code: string; email: string }> {
  count += 1
  const address = email ?? `passkey-${count}@example.com`
  const { status, body } = await gateway.request('POST', '/v1/organization/invites', {
    key,
    body: { email: address, role },
  })
  expect([status, body]).toEqual([200, body])
  return { code: String(body.code), email: address }
}

export interface PasskeyPerson {
  readonly email: string
  readonly browser: TestBrowser
  readonly passkey: SoftwarePasskey
}

/** Invites a person who accepts with a passkey. */
export async function joinWithPasskey(
  gateway: Gateway,
  invitation: { email?: string; role?: string; key?: string } = {},
): Promise<PasskeyPerson> {
  const { code, email } = await invite(gateway, invitation)
  const browser = openBrowser(gateway)
  const { passkey, credential } = await makeForLink(browser, code)
  const accepted = await browser.post('/v1/invites/accept', {
    code,
    name: 'Grace',
    passkey: { name: 'Laptop', credential },
  })
  expect([accepted.status, accepted.body]).toEqual([201, accepted.body])
  return { email, browser, passkey }
}

/** Makes a passkey for an invitation that is not accepted yet. */
export async function makeForLink(browser: TestBrowser, code: string) {
  const begun = await browser.post('/v1/invites/passkey', { code })
  expect([begun.status, begun.body]).toEqual([200, begun.body])
  return createCredential(begun.body.public_key, ORIGIN)
}

export async function signInWith(
  browser: TestBrowser,
  passkey: SoftwarePasskey,
  lies: Parameters<typeof useCredential>[3] = {},
): Promise<TestAnswer> {
  const begun = await browser.post('/v1/sessions/passkey/options')
  expect([begun.status, begun.body]).toEqual([200, begun.body])
  const credential = useCredential(passkey, begun.body.public_key, ORIGIN, lies)
  return browser.post('/v1/sessions/passkey', { credential })
}

export async function confirmWith(browser: TestBrowser, passkey: SoftwarePasskey): Promise<TestAnswer> {
  const begun = await browser.post('/v1/sessions/current/confirm/passkey/options')
  if (begun.status !== 200) return begun
  const credential = useCredential(passkey, begun.body.public_key, ORIGIN)
  return browser.post('/v1/sessions/current/confirm/passkey', { credential })
}
