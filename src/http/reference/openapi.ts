import type { TSchema } from 'typebox'
import { ERROR_CATALOGUE } from '../error-envelope.ts'
import { describeAnswerHeaders, describeErrorHeaders, HEADER_COMPONENTS } from './openapi-headers.ts'
import { describeForm } from '../multipart/describe-form.ts'
import { collectComponents, type JsonObject, type SchemaReader } from './openapi-schemas.ts'
import type { ResponseDescription, RouteDescription } from '../route.ts'

export interface OpenApiOptions {
  readonly version: string
  /** Where clients reach the gateway; the address the document came from unless told. */
  readonly serverUrl?: string
}

/** An OpenAPI 3.1 document: the route table in the words of the standard. TypeBox schemas are JSON Schema already. */
export function buildOpenApi(
  table: readonly RouteDescription[],
  { version, serverUrl = '/' }: OpenApiOptions,
): JsonObject {
  const routes = table.filter((route) => !isPageAsset(route))
  const components = collectComponents({ Error: ERROR_SCHEMA })
  const operationIds = new Set<string>()
  const paths: Record<string, JsonObject> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    const operation = describeOperation(route, components.read, nameOperation(route, operationIds))
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Parkway',
      version,
      summary: 'One OpenAI-compatible API to many AI models.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components.all(),
      responses: describeErrorAnswers(),
      headers: HEADER_COMPONENTS,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'pk-<env>-<secret>',
          description: 'An API key of an account. `/v1/tenants/me/api-keys` makes further ones.',
        },
      },
    },
  }
}

const DESCRIPTION = `Every request carries \`Authorization: Bearer <API key>\`. Clients made for the OpenAI API work when their base URL is
set to this server's \`/v1\`.

Errors have one shape, \`{"error": {"message", "type", "param", "code", "request_id"}}\`; every answer carries
\`x-request-id\`. Amounts of money are numbers in US dollars and end in \`_usd\`; times are RFC 3339 in UTC.`

// Scripts belong to a page and not to the API.
function isPageAsset({ responses }: RouteDescription): boolean {
  return Object.values(responses).every(({ contentType }) => contentType === 'text/javascript')
}

function describeOperation(route: RouteDescription, read: SchemaReader, operationId: string): JsonObject {
  const { body, scope } = route
  const parameters = [
    ...describeParameters('path', route.params, read, pathParameters(route.path)),
    ...describeParameters('query', route.query, read),
    ...(takesIdempotencyKey(route) ? [IDEMPOTENCY_KEY] : []),
  ]
  const answers = Object.entries(route.responses).map(([status, answer]) => [
    status,
    describeAnswer(route, Number(status), answer, read),
  ])
  const errors = errorStatuses(route)
    .filter((status) => !(status in route.responses))
    .map((status) => [status, { $ref: `#/components/responses/${errorName(status)}` }])
  return {
    operationId,
    summary: route.summary,
    tags: [route.tag],
    ...(scope === null
      ? { security: [] }
      : { security: [{ apiKey: [] }], description: describeAccess(route, scope) }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body
      ? { requestBody: { required: isBodyRequired(route), content: describeBody(route, body, read) } }
      : {}),
    responses: Object.fromEntries([...answers, ...errors]),
  }
}

function takesIdempotencyKey({ method, scope }: Pick<RouteDescription, 'method' | 'scope'>): boolean {
  return method === 'POST' && scope !== null
}

const IDEMPOTENCY_KEY: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes it safe to send the request again: for 24 hours the same key with the same body gets the first answer and ' +
    'is charged nothing.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]*$' },
}

function describeAccess({ isChargedByCall }: RouteDescription, scope: string): string {
  const charged = isChargedByCall ? ' What it asks of models is charged call by call, as chat is.' : ''
  return describeScope(scope) + charged
}

function describeScope(scope: string): string {
  return scope === 'any' ? 'Any key will do.' : `Needs a key with the scope \`${scope}\`.`
}

/** From the method and the path, so that it stays what it is when the table grows: `postChatCompletions`. */
function nameOperation({ method, path }: RouteDescription, taken: Set<string>): string {
  const words = path
    .replace(/^\/v1\//, '/')
    .split(/[^A-Za-z0-9:]+/)
    .filter(Boolean)
  const name = words
    .map((word) => (word.startsWith(':') ? `By${capitalize(word.slice(1))}` : capitalize(word)))
    .join('')
  const base = method.toLowerCase() + name
  let operationId = base
  for (let number = 2; taken.has(operationId); number += 1) operationId = `${base}${number}`
  taken.add(operationId)
  return operationId
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function pathParameters(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
}

function describeParameters(
  place: 'path' | 'query',
  schema: TSchema | undefined,
  read: SchemaReader,
  names?: string[],
): JsonObject[] {
  const { properties, required } = fieldsOf(schema)
  return (names ?? Object.keys(properties)).map((name) => {
    const property = properties[name]
    const { description, ...rest } = property ? read(property) : { type: 'string' }
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    }
  })
}

function fieldsOf(schema: TSchema | undefined): { properties: Record<string, TSchema>; required: string[] } {
  const { properties = {}, required = [] }: { properties?: Record<string, TSchema>; required?: string[] } =
    schema ?? {}
  return { properties, required }
}

// A POST whose every field is optional is accepted without a body.
function isBodyRequired({ body, form }: RouteDescription): boolean {
  return (
    fieldsOf(body).required.length > 0 || Object.values(form?.files ?? {}).some((rule) => rule.isRequired)
  )
}

function describeBody({ form }: RouteDescription, body: TSchema, read: SchemaReader): JsonObject {
  const json = jsonContent(read(body))
  return form ? { 'multipart/form-data': { schema: describeForm(form, body, read) }, ...json } : json
}

function describeAnswer(
  route: RouteDescription,
  status: number,
  answer: ResponseDescription,
  read: SchemaReader,
): JsonObject {
  const { description, schema, contentType = 'application/json' } = answer
  const isInference = route.scope === 'inference' && route.method === 'POST' && !route.isChargedByCall
  const content =
    schema || answer.contentType ? { [contentType]: schema ? { schema: read(schema) } : {} } : undefined
  return {
    description,
    headers: describeAnswerHeaders({
      isInference: isInference && status < 300,
      isRepeatable: takesIdempotencyKey(route) && status < 300,
    }),
    ...(content ? { content: { ...content, ...(canStream(route, status) ? EVENT_STREAM : {}) } } : {}),
  }
}

// A request that may ask for a stream is answered as one.
function canStream({ body }: RouteDescription, status: number): boolean {
  return status === 200 && 'stream' in fieldsOf(body).properties
}

const EVENT_STREAM = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        'With `stream: true`: one `data:` line a chunk, then `data: [DONE]`. Lines that begin with a colon keep the ' +
        'connection alive. A failure in the middle is one `data: {"error": …}` line, and no `[DONE]` follows.',
    },
    example: 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n',
  },
}

function jsonContent(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } }
}

/** What can go wrong on a route follows from what it takes and whom it serves. */
function errorStatuses({ path, method, scope, body, query }: RouteDescription): number[] {
  const isInference = scope === 'inference' && method === 'POST'
  return [
    ...(body || query ? [400] : []),
    ...(scope === null ? [] : [401, 403, 429, 503]),
    ...(isInference ? [402, 502, 504] : []),
    ...(path.includes(':') || isInference ? [404] : []),
    ...(scope !== null && method !== 'GET' ? [409] : []),
    ...(takesIdempotencyKey({ method, scope }) ? [422] : []),
    ...(body ? [408, 413, 415] : []),
    ...(path.startsWith('/v1/') ? [500] : []),
  ].toSorted((one, other) => one - other)
}

const ERROR_NAMES: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ['BadRequest', 'The request is not valid; `param` names the field.'],
  401: ['Unauthorized', 'The key is missing, malformed, unknown, revoked or expired.'],
  402: ['PaymentRequired', 'The balance or a cap does not cover the request. Retrying does not help.'],
  403: ['Forbidden', 'The key is valid and not allowed to do this.'],
  404: ['NotFound', 'It does not exist, or belongs to another account.'],
  408: ['RequestTimeout', 'The request did not arrive in time.'],
  409: ['Conflict', 'It is not in a state that allows this, or a request with the same key still runs.'],
  413: ['RequestTooLarge', 'The body is larger than the limit.'],
  415: ['UnsupportedMediaType', 'The body has the wrong content type.'],
  422: ['KeyReused', 'The `Idempotency-Key` was used for another request.'],
  429: ['TooManyRequests', 'A rate or concurrency limit is reached; `retry-after` says when to come back.'],
  500: ['InternalError', 'A defect of the gateway; its log knows the request by `request_id`.'],
  502: ['UpstreamError', 'Every upstream of the model failed.'],
  503: ['Unavailable', 'No capacity, no configured upstream or no database at the moment.'],
  504: ['Timeout', 'The upstream did not answer in time.'],
}

function errorName(status: number): string {
  return ERROR_NAMES[status]?.[0] ?? `Error${status}`
}

function describeErrorAnswers(): JsonObject {
  return Object.fromEntries(
    Object.entries(ERROR_NAMES).map(([status, [name, description]]) => {
      const codes = Object.entries(ERROR_CATALOGUE).filter(([, entry]) => entry.status === Number(status))
      return [
        name,
        {
          description: `${description} Codes: ${codes.map(([code]) => `\`${code}\``).join(', ')}.`,
          headers: describeErrorHeaders(Number(status)),
          content: jsonContent({ $ref: '#/components/schemas/Error' }),
        },
      ]
    }),
  )
}

const ERROR_SCHEMA: JsonObject = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code', 'request_id'],
      properties: {
        message: { type: 'string', description: 'For people.' },
        type: { type: 'string', enum: [...new Set(Object.values(ERROR_CATALOGUE).map(({ type }) => type))] },
        param: {
          type: ['string', 'null'],
          description: 'The field at fault, nested as `messages.0.content`.',
        },
        code: {
          type: ['string', 'null'],
          enum: [...Object.keys(ERROR_CATALOGUE), null],
          description: 'For programs.',
        },
        request_id: { type: 'string', examples: ['req_0123456789abcdef01234567'] },
      },
    },
  },
}
