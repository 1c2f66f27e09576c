import { Validator } from '@seriousme/openapi-schema-validator'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { inAccount, inProject, NO_KEY } from '../src/http/access.ts'
import { buildOpenApi } from '../src/http/reference/openapi.ts'
import { defineRoute, type Route } from '../src/http/route.ts'
import { operationRoutes } from '../src/http/routes/operator/operations.ts'
import { silentLogger } from '../src/kernel/logger.ts'
import { ChatRequest } from '../src/wires/openai-chat/chat-request.ts'
import { startTestGateway } from './support/start-test-gateway.ts'

const Widget = Type.Object({ id: Type.String(), size: Type.Integer() }, { $id: 'Widget' })
const WidgetList = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(Widget) },
  { title: 'widget list' },
)
const handle = async () => undefined

const routes: Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/widgets',
    summary: 'List widgets',
    tag: 'Widgets',
    access: inAccount('organization.read'),
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'How many.' })),
      status: Type.Enum(['on', 'off']),
    }),
    responses: { 200: { description: 'Some.', schema: WidgetList } },
    handle,
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/widgets/:id/parts/:part_id',
    summary: 'Read a part',
    tag: 'Widgets',
    access: inAccount('organization.read'),
    params: Type.Object({ id: Type.String({ description: 'The widget.' }), part_id: Type.String() }),
    responses: { 200: { description: 'One.', schema: Widget } },
    handle,
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/widgets/:id/parts/:part_id',
    summary: 'Remove a part',
    tag: 'Widgets',
    access: inAccount('organization.read'),
    responses: { 204: { description: 'Gone.' } },
    handle,
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/chat/completions',
    summary: 'Answer a conversation',
    tag: 'Chat',
    access: inProject('models.use'),
    body: ChatRequest,
    responses: { 200: { description: 'The answer.', schema: Type.Object({ id: Type.String() }) } },
    handle,
  }),
  ...operationRoutes({
    checks: {},
    isShuttingDown: () => false,
    listWarnings: () => [],
    readMetrics: async () => ({ contentType: 'text/plain', text: '' }),
    metricsAccess: { token: null, isOpen: false, authenticate: () => Promise.reject(new Error('not asked')) },
    buildDocument: () => ({}),
    logger: silentLogger,
    consoleSite: null,
  }),
]

describe('the OpenAPI document', () => {
  const document = buildOpenApi(routes, { version: '1.2.3' })
  // The tests below check the shape, so the full type of a document is not needed here.
  const paths = document['paths'] as Record<string, Record<string, Record<string, unknown>>>

  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const result = await validator.validate(JSON.parse(JSON.stringify(document)))
    expect(result).toMatchObject({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  test('has every route except the scripts of pages, each with its own operation id', () => {
    const operations = Object.values(paths).flatMap((path) => Object.values(path))
    const api = routes.filter(({ path }) => !path.endsWith('.js'))
    expect(operations).toHaveLength(api.length)
    const ids = operations.map((operation) => operation['operationId'])
    expect(new Set(ids).size).toBe(api.length)
    expect(ids).toContain('postChatCompletions')
    expect(ids).toContain('getWidgetsByIdPartsByPartId')
  })

  test('names path and query parameters with their schemas', () => {
    expect(paths['/v1/widgets/{id}/parts/{part_id}']?.['get']?.['parameters']).toEqual([
      { name: 'id', in: 'path', required: true, description: 'The widget.', schema: { type: 'string' } },
      { name: 'part_id', in: 'path', required: true, schema: { type: 'string' } },
    ])
    expect(paths['/v1/widgets/{id}/parts/{part_id}']?.['delete']?.['parameters']).toHaveLength(2)
    expect(paths['/v1/widgets']?.['get']?.['parameters']).toEqual([
      {
        name: 'limit',
        in: 'query',
        required: false,
        description: 'How many.',
        schema: { type: 'integer', minimum: 1, maximum: 100 },
      },
      { name: 'status', in: 'query', required: true, schema: { enum: ['on', 'off'] } },
    ])
  })

  test('has each named schema once and refers to it', () => {
    const { schemas } = document['components'] as { schemas: Record<string, unknown> }
    expect(Object.keys(schemas)).toEqual([
      'AnthropicError',
      'Error',
      'OAuthError',
      'ScimError',
      'Widget',
      'WidgetList',
    ])
    expect(schemas['Widget']).not.toHaveProperty('$id')
    expect(schemas['WidgetList']).toMatchObject({
      properties: { data: { type: 'array', items: { $ref: '#/components/schemas/Widget' } } },
    })
    expect(paths['/v1/widgets/{id}/parts/{part_id}']?.['get']).toMatchObject({
      responses: {
        200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Widget' } } } },
      },
    })
  })

  test('two schemas of one name are both kept', () => {
    const answer = (schema: Type.TSchema) => ({ responses: { 200: { description: 'x', schema } } })
    const [first, second] = [
      Type.Object({ a: Type.String() }, { title: 'Same' }),
      Type.String({ title: 'Same' }),
    ]
    const shared = { method: 'GET', summary: 'x', tag: 'x', access: NO_KEY, handle } as const
    const twice = buildOpenApi(
      [
        defineRoute({ ...shared, path: '/a', ...answer(first) }),
        defineRoute({ ...shared, path: '/b', ...answer(second) }),
      ],
      { version: '1' },
    )
    expect(twice).toMatchObject({
      components: { schemas: { Same: { type: 'object' }, Same2: { type: 'string' } } },
    })
  })

  test('lists the errors of a route', () => {
    const statuses = (path: string, method: string) => Object.keys(paths[path]?.[method]?.['responses'] ?? {})
    expect(statuses('/v1/widgets', 'get')).toEqual(['200', '400', '401', '403', '429', '500', '503'])
    expect(statuses('/v1/chat/completions', 'post')).toEqual([
      '200',
      '400',
      '401',
      '402',
      '403',
      '404',
      '408',
      '409',
      '413',
      '415',
      '422',
      '429',
      '500',
      '502',
      '503',
      '504',
    ])
    expect(statuses('/healthz', 'get')).toEqual(['200', '400'])
    expect(document).toMatchObject({
      components: {
        responses: { PaymentRequired: { description: expect.stringContaining('`insufficient_balance`') } },
      },
    })
  })

  test('says that a chat may be answered as a stream', () => {
    expect(paths['/v1/chat/completions']?.['post']).toMatchObject({
      security: [{ apiKey: [] }],
      requestBody: { required: true },
      responses: { 200: { content: { 'application/json': {}, 'text/event-stream': {} } } },
    })
    expect(paths['/healthz']?.['get']).toMatchObject({ security: [] })
  })
})

describe('the OpenAPI document of a running gateway', () => {
  test('names every header that the gateway sends', async () => {
    const gateway = await startTestGateway()
    try {
      const { body } = await gateway.request('GET', '/openapi.json', { key: null })
      const { body: limited } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
        body: { requests_per_minute: 1 },
      })
      const operation = body.paths['/v1/chat/completions'].post
      const [example] = operation.requestBody.content['application/json'].schema.examples
      const ask = () => gateway.request('POST', '/v1/chat/completions', { body: example, key: limited.key })
      const isAlways = (name: string) => /^(x-(?!content-type)|retry-after)/.test(name)
      const headersOf = ({ headers }: { headers: object }) => Object.keys(headers).filter(isAlways).toSorted()
      const sent = (answer: { headers: Headers }) => [...answer.headers.keys()].filter(isAlways).toSorted()

      expect(sent(await ask())).toEqual(headersOf(operation.responses[200]))
      const refused = await ask()
      expect(refused.status).toBe(429)
      expect(sent(refused)).toEqual(headersOf(body.components.responses.TooManyRequests))
    } finally {
      await gateway.close()
    }
  })

  test('is valid and has the routes that answer', async () => {
    const gateway = await startTestGateway({ settings: { PARKWAY_STATUS_PAGE: 'true' } })
    try {
      const { status, body } = await gateway.request('GET', '/openapi.json', { key: null })
      expect(status).toBe(200)
      expect(await new Validator().validate(body)).toMatchObject({ valid: true })
      expect(Object.keys(body.paths)).toEqual(
        expect.arrayContaining([
          '/v1/models',
          '/v1/models/{id}',
          '/v1/chat/completions',
          '/v1/completions',
          '/v1/tenants/me/api-keys/{id}',
          '/v1/admin/accounts',
          '/healthz',
          '/readyz',
          '/metrics',
          '/docs',
        ]),
      )
      expect(body.paths['/v1/tenants/me'].get.description).toContain('Any key will do.')
      for (const path of ['/v1/chat/completions', '/v1/completions']) {
        const { content } = body.paths[path].post.requestBody
        const [example] = content['application/json'].schema.examples
        expect([path, (await gateway.request('POST', path, { body: example })).status]).toEqual([path, 200])
        expect(body.paths[path].post.responses[200].content).toMatchObject({
          'application/json': { schema: {} },
          'text/event-stream': { schema: { type: 'string' } },
        })
      }
      // There is no limit yet, there are no settings, and the callback leads to a page of the console.
      const notThere = [
        '/v1/organization/spend_limit',
        '/managed/settings',
        '/v1/sessions/directory/callback',
      ]
      const described = Object.entries(body.paths).filter(
        ([path]) => !path.includes('{') && !notThere.includes(path),
      )
      for (const [path, operations] of described) {
        const get: { parameters?: { required?: boolean }[] } | undefined = Object(operations).get
        if (get === undefined) continue
        // A route with required parameters answers 400 without them, and one about a session without a session.
        const needsSession = path === '/v1/sessions/current'
        const isAnswered = !needsSession && get.parameters?.some(({ required }) => required === true) !== true
        const response = await gateway.fetch('GET', path)
        // Streams have no end.
        await response.body?.cancel()
        // A directory has a token of its own.
        const refused = path.startsWith('/scim/') ? 401 : 400
        expect([path, response.status]).toEqual([
          path,
          isAnswered && !path.startsWith('/scim/') ? 200 : refused,
        ])
      }
    } finally {
      await gateway.close()
    }
  })
})
