import { AppError } from '../src/kernel/app-error.ts'
import { PERMISSIONS_OF_SCOPES, SCOPES } from '../src/modules/keys/keys.ts'
import type { IncomingMessage } from 'node:http'
import type { Exchange } from '../src/http/exchange.ts'
import fastify, { type FastifyInstance } from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import { toErrorAnswer } from '../src/http/answers/error-envelope.ts'
import { buildOpenApi } from '../src/http/reference/openapi.ts'
import { BodiesInWork } from '../src/http/bodies/bodies-in-work.ts'
import { registerRoutes } from '../src/http/register-route.ts'
import { operationRoutes, type OperationRoutesOptions } from '../src/http/routes/operator/operations.ts'
import { silentLogger } from '../src/kernel/logger.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import { startTestGateway } from './support/start-test-gateway.ts'
import { eventually } from './support/eventually.ts'

/** The text of a key is its scope: `admin`, `inference`, or no key. */
const METRICS_ACCESS: OperationRoutesOptions['metricsAccess'] = {
  token: null,
  isOpen: false,
  authenticate: ({ headers }) => {
    const scope = SCOPES.find((known) => headers.authorization === `Bearer ${known}`)
    if (scope === undefined) throw new AppError('invalid_api_key', 'unknown')
    return {
      accountId: 'a',
      keyId: 'k',
      environment: 'dev',
      scopes: new Set([scope]),
      permissions: new Set(PERMISSIONS_OF_SCOPES[scope]),
      projectId: null,
      groupIds: [],
      allowedModels: null,
      requestsPerMinute: null,
      limitNanoUsd: null,
    }
  },
}

describe('operations', () => {
  const apps: FastifyInstance[] = []
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close()
  })

  function openGateway(options: Partial<OperationRoutesOptions> = {}) {
    const routes = operationRoutes({
      checks: {},
      isShuttingDown: () => false,
      listWarnings: () => [],
      readMetrics: () => createMetrics().exposition(),
      metricsAccess: METRICS_ACCESS,
      buildDocument: () => buildOpenApi(routes, { version: '1.0.0' }),
      logger: silentLogger,
      consoleSite: null,
      ...options,
    })
    const app = fastify()
    apps.push(app)
    app.decorateRequest('exchange', { getter: () => ({ caller: null }) as Exchange<IncomingMessage> })
    app.setErrorHandler((error, request, reply) => {
      const answer = toErrorAnswer(error, request.id)
      return reply.code(answer.status).headers(answer.headers).send(answer.body)
    })
    const notAsked = async () => Promise.reject(new Error('not asked'))
    const guard = {
      authenticate: notAsked,
      authenticateKey: notAsked,
      confirmationRequired: notAsked,
      countSignIn: notAsked,
      addressOf: () => '127.0.0.1',
      admitVisitor: () => {},
    }
    registerRoutes(app, routes, {
      guard,
      runOnce: notAsked,
      idempotency: { hasEnded: notAsked },
      takeFiles: { ofForm: notAsked, ofWhole: notAsked, ofBody: notAsked },
      bodyBytesMax: 1024,
      bodiesInWork: new BodiesInWork({ bytesMax: 1024 }),
      runForAccount: (_, work) => work(),
      readOld: (_, __, work) => work(),
    })
    return app
  }

  test('a live process answers without querying storage', async () => {
    const app = openGateway({ checks: { database: () => Promise.reject(new Error('down')) } })
    const answer = await app.inject('/healthz')
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok' }])
  })

  test('a process is ready if every check passes', async () => {
    const answer = await openGateway({ checks: { database: async () => {} } }).inject('/readyz')
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toMatchObject({ status: 'ok', checks: { database: { status: 'ok' } } })
  })

  test('one failing check makes it unready, and the reason is only in the log', async () => {
    const reasons: object[] = []
    const logger = { ...silentLogger, warn: (details: object) => reasons.push(details) }
    const checks = { database: () => Promise.reject(new Error('password wrong')), worker: async () => {} }
    const answer = await openGateway({ checks, logger }).inject('/readyz')
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toMatchObject({
      status: 'unavailable',
      checks: { database: { status: 'failed' }, worker: { status: 'ok' } },
    })
    expect(answer.body).not.toContain('password')
    expect(reasons).toMatchObject([{ check: 'database' }])
  })

  test('a process that shuts down is not ready, although everything works', async () => {
    const answer = await openGateway({ isShuttingDown: () => true }).inject('/readyz')
    expect([answer.statusCode, answer.json().status]).toEqual([503, 'shutting_down'])
  })

  test('concurrent callers share one run of the checks', async () => {
    let runs = 0
    const app = openGateway({
      checks: {
        database: async () => {
          runs += 1
          await new Promise(setImmediate)
        },
      },
    })
    await app.ready()
    await Promise.all(Array.from({ length: 20 }, () => app.inject('/readyz')))
    expect(runs).toBeLessThan(20)
  })

  test('metrics are Prometheus text', async () => {
    const answer = await openGateway().inject('/metrics')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toContain('text/plain; version=0.0.4')
    expect(answer.body).toContain('# TYPE parkway_requests_total counter')
  })

  test('protected metrics need their token', async () => {
    const app = openGateway({ metricsAccess: { ...METRICS_ACCESS, token: 'scrape-me' } })
    const ask = (authorization?: string) =>
      app.inject({ url: '/metrics', headers: authorization === undefined ? {} : { authorization } })
    expect((await ask()).statusCode).toBe(401)
    expect((await ask('Bearer wrong')).json()).toMatchObject({ error: { code: 'invalid_api_key' } })
    expect((await ask('Bearer scrape-me')).statusCode).toBe(200)
  })

  test.each([
    [200, 'this machine', '127.0.0.1', {}],
    [200, 'this machine', '::1', { host: '[::1]:8080' }],
    [200, 'this machine', '::ffff:127.0.0.1', {}],
    [401, 'another machine', '10.0.0.9', {}],
    [401, 'another machine that claims to be this one', '10.0.0.9', { 'x-forwarded-for': '127.0.0.1' }],
    [401, 'a proxy on this machine', '127.0.0.1', { 'x-forwarded-for': '203.0.113.7' }],
    [401, 'a proxy that names itself', '127.0.0.1', { via: '1.1 cache' }],
    [401, 'a proxy that adds nothing', '127.0.0.1', { host: 'ai.example' }],
    [200, 'a key of an operator', '10.0.0.9', { authorization: 'Bearer admin' }],
    [403, 'another key', '10.0.0.9', { authorization: 'Bearer inference' }],
    [401, 'no key at all', '10.0.0.9', { authorization: 'Bearer nothing' }],
  ])('metrics: %i for %s (%s, %j)', async (status, _who, remoteAddress, headers) => {
    const answer = await openGateway().inject({ url: '/metrics', remoteAddress, headers })
    expect(answer.statusCode).toBe(status)
  })

  test('metrics: 200 for everyone if the operator opens them', async () => {
    const app = openGateway({ metricsAccess: { ...METRICS_ACCESS, isOpen: true } })
    expect((await app.inject({ url: '/metrics', remoteAddress: '203.0.113.7' })).statusCode).toBe(200)
  })

  test('the root page links to the reference', async () => {
    const answer = await openGateway().inject('/')
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(answer.body).toContain('href="/docs"')
  })

  test('the description of the API is served as JSON', async () => {
    const answer = await openGateway().inject('/openapi.json')
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json()).toMatchObject({ openapi: '3.1.1', paths: { '/healthz': {} } })
  })

  test('the reference page refers to this server only, and its policy forbids other hosts', async () => {
    const app = openGateway()
    const page = await app.inject('/docs')
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    const references = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target]) => target)
    expect(references).toEqual(['data:,', '/openapi.json', '/docs/scalar.js', '/docs/start.js'])
    expect(page.body).not.toMatch(/https?:|\/\/[a-z]/)

    const policy = String(page.headers['content-security-policy']).split('; ')
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'"]),
    )
    for (const source of policy.flatMap((directive) => directive.split(' ').slice(1))) {
      expect(source).toMatch(/^'(?:none|self|unsafe-inline)'$|^data:$/)
    }
  })

  test('the scripts of the reference page come from this server, compressed if the client accepts it', async () => {
    const app = openGateway()
    const start = await app.inject('/docs/start.js')
    expect(start.body).toContain('Scalar.createApiReference')
    expect(start.body).not.toMatch(/https?:/)
    const compressed = await app.inject({
      url: '/docs/scalar.js',
      headers: { 'accept-encoding': 'gzip, br' },
    })
    expect(compressed.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'gzip',
    })
    const plain = await app.inject('/docs/scalar.js')
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(plain.body).toContain('createApiReference')
    expect(compressed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2)
  })
})

describe('operations of a running gateway', () => {
  test('a chat is counted by route, model, provider and status, with its tokens and time to first token', async () => {
    const gateway = await startTestGateway()
    try {
      const models = await gateway.request('GET', '/v1/models?category=llm')
      const model: string = models.body.data[0].id
      const body = { model, messages: [{ role: 'user', content: 'Hello' }], stream: true, max_tokens: 8 }
      const answer = await gateway.fetch('POST', '/v1/chat/completions', { body })
      await answer.text()
      expect(answer.status).toBe(200)
      await gateway.request('POST', '/v1/chat/completions', { body: { ...body, model: 'no-such-model' } })

      // A request is counted when the server has finished it, shortly after the client has the answer.
      await eventually(async () => {
        const { body: text } = await gateway.request('GET', '/metrics', { key: null })
        const labels = `route="/v1/chat/completions",model="${model}",provider="sandbox"`
        expect(text).toContain(`parkway_requests_total{${labels},status="200"} 1`)
        expect(text).toContain(`parkway_request_duration_seconds_count{${labels}} 1`)
        expect(text).toContain(
          `parkway_time_to_first_token_seconds_count{model="${model}",provider="sandbox"} 1`,
        )
        expect(text).toMatch(/parkway_tokens_total\{.*direction="completion"\} [1-9]/)
        expect(text).toContain('parkway_upstream_attempts_total{provider="sandbox",outcome="ok"} 1')
        expect(text).toMatch(/parkway_requests_total\{.*status="404"\} 1/)
        expect(text).not.toContain('no-such-model')
        expect(text).toContain('parkway_requests_in_flight{route="/v1/chat/completions"} 0')
      })
    } finally {
      await gateway.close()
    }
  })

  test('it is alive, ready and has a reference page', async () => {
    const gateway = await startTestGateway()
    try {
      expect((await gateway.request('GET', '/healthz', { key: null })).body).toEqual({ status: 'ok' })
      const ready = await gateway.request('GET', '/readyz', { key: null })
      expect([ready.status, ready.body.status]).toEqual([200, 'ok'])
      const page = await gateway.request('GET', '/docs', { key: null })
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    } finally {
      await gateway.close()
    }
  })
})
