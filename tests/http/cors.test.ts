import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const CHAT = '/v1/chat/completions'
const BODY = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }
const ORIGIN = 'https://app.example.com'

describe('with origins configured', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startTestGateway({
      settings: { PARKWAY_CORS_ORIGINS: `${ORIGIN}, https://other.example.com` },
    })
  })

  afterAll(async () => {
    await gateway.close()
  })

  const PATHS = [
    ['POST', CHAT],
    ['GET', '/v1/models'],
  ] as const

  test.each(PATHS)('a preflight request is allowed: %s %s', async (method, path) => {
    const answer = await gateway.request('OPTIONS', path, {
      key: null,
      headers: {
        origin: ORIGIN,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type,idempotency-key',
      },
    })
    expect([200, 204]).toContain(answer.status)
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(answer.headers.get('access-control-allow-methods')).toContain(method)
    expect(answer.headers.get('access-control-allow-headers')).toContain('authorization')
    expect(answer.headers.get('vary')?.toLowerCase()).toContain('origin')
  })

  test.each([false, true])('a browser may read the answer and our headers (stream: %s)', async (stream) => {
    const response = await gateway.fetch('POST', CHAT, {
      body: { ...BODY, stream },
      headers: { origin: ORIGIN },
    })
    await response.text()
    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    const exposed = response.headers.get('access-control-expose-headers')
    for (const name of ['x-request-id', 'x-gateway-provider', 'retry-after']) expect(exposed).toContain(name)
    expect(response.headers.get('vary')?.toLowerCase()).toContain('origin')
  })

  test('a browser may read an error', async () => {
    const requests = [
      gateway.request('POST', CHAT, { body: '{', headers: { origin: ORIGIN } }),
      gateway.request('POST', CHAT, { key: null, body: BODY, headers: { origin: ORIGIN } }),
      gateway.request('GET', '/v1/models', { key: null, headers: { origin: ORIGIN } }),
      gateway.request('GET', '/v1/nothing', { headers: { origin: ORIGIN } }),
    ]
    for (const { status, headers } of await Promise.all(requests)) {
      expect(status).toBeGreaterThanOrEqual(400)
      expect(headers.get('access-control-allow-origin')).toBe(ORIGIN)
    }
  })

  test.each(PATHS)('another origin is not allowed: %s %s', async (method, path) => {
    const answer = await gateway.request(method, path, {
      ...(method === 'POST' ? { body: BODY } : {}),
      headers: { origin: 'https://evil.example.com' },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('browser credentials are never allowed', async () => {
    const { headers } = await gateway.request('GET', '/v1/models', { headers: { origin: ORIGIN } })
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  })
})

describe('with all origins allowed', () => {
  test('every origin may read', async () => {
    const gateway = await startTestGateway({ settings: { PARKWAY_CORS_ORIGINS: '*' } })
    try {
      for (const [method, path] of [
        ['POST', CHAT],
        ['GET', '/v1/models'],
      ] as const) {
        const { headers } = await gateway.request(method, path, {
          ...(method === 'POST' ? { body: BODY } : {}),
          headers: { origin: ORIGIN },
        })
        expect(headers.get('access-control-allow-origin')).toBe('*')
      }
    } finally {
      await gateway.close()
    }
  })
})

describe('by default', () => {
  test('no origin is allowed', async () => {
    const gateway = await startTestGateway()
    try {
      const answer = await gateway.request('POST', CHAT, { body: BODY, headers: { origin: ORIGIN } })
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
      const asked = await gateway.request('OPTIONS', CHAT, { key: null, headers: { origin: ORIGIN } })
      expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([405, null])
    } finally {
      await gateway.close()
    }
  })
})
