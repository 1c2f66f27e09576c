import { afterAll, beforeAll, expect, test } from 'vitest'
import { Type } from 'typebox'
import {
  OPEN_BODY_BYTES_MAX,
  requireSmallOpenBodies,
} from '../../src/http/bodies/require-small-open-bodies.ts'
import { ANY_KEY, NO_KEY } from '../../src/http/access.ts'
import { defineRoute } from '../../src/http/route.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { parseRaw, sendRaw } from './send-raw.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({ mayAnswerAnything: true })
})

afterAll(() => gateway.close())

const METHODS = ['post', 'patch', 'delete', 'put']

/** Announces a body that is too large and sends none of it. A server that waits for it never answers. */
async function announce(method: string, path: string, bytes: number) {
  const type = path.startsWith('/oauth/') ? 'application/x-www-form-urlencoded' : 'application/json'
  const head = `${method.toUpperCase()} ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\n`
  return parseRaw(
    await sendRaw(gateway.baseUrl, `${head}content-length: ${bytes}\r\nconnection: close\r\n\r\n`),
  )
}

test('no route reads a large body of a client without a key', async () => {
  const { body: document } = await gateway.request('GET', '/openapi.json')
  const paths = Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => METHODS.includes(method))
      .map((method) => [method, path.replaceAll(/\{\w+\}/g, 'x')] as const),
  )
  expect(paths.length).toBeGreaterThan(50)
  const read: string[] = []
  for (const [method, path] of paths) {
    const { status } = await announce(method, path, OPEN_BODY_BYTES_MAX + 1)
    // 429: the address has sent too many requests without a key.
    if (![401, 413, 429].includes(status)) read.push(`${method} ${path}: ${status}`)
  }
  expect(read).toEqual([])
})

test('an unknown route is refused before its body is read', async () => {
  const large = 30 * 1024 * 1024
  expect((await announce('post', '/nowhere', large)).status).toBe(404)
  expect((await announce('post', '/healthz', large)).status).toBe(405)
})

test('signing in takes no more than a key or a code', async () => {
  const { status } = await gateway.request('POST', '/v1/sessions', {
    key: null,
    body: { api_key: 'x', other: 'x'.repeat(5_000) },
  })
  expect(status).toBe(413)
})

test('a gateway with a route without a key that reads large bodies does not start', () => {
  const route = {
    method: 'POST',
    path: '/v1/open',
    summary: 'An example',
    tag: 'Examples',
    access: NO_KEY,
    body: Type.Object({}),
    responses: {},
    handle: async () => ({}),
  } as const
  expect(() => requireSmallOpenBodies([defineRoute(route)])).toThrow('/v1/open')
  const large = { ...route, bodyLimitBytes: OPEN_BODY_BYTES_MAX + 1 }
  expect(() => requireSmallOpenBodies([defineRoute(large)])).toThrow('/v1/open')
  const withForm = { ...route, bodyLimitBytes: 1, form: { files: [] } as never }
  expect(() => requireSmallOpenBodies([defineRoute(withForm)])).toThrow('/v1/open')
  expect(() => requireSmallOpenBodies([defineRoute({ ...route, access: ANY_KEY })])).not.toThrow()
})
