import type { JsonObject } from './openapi-schemas.ts'

const text = (description: string, example?: string): JsonObject => ({
  description,
  schema: { type: 'string' },
  ...(example === undefined ? {} : { example }),
})
const number = (description: string): JsonObject => ({ description, schema: { type: 'number' } })
const count = (description: string): JsonObject => ({
  description,
  schema: { type: 'integer', minimum: 0 },
})

/** The headers of answers that are specific to the gateway, by name. */
export const HEADER_COMPONENTS: JsonObject = {
  'x-request-id': text('Names this request in the log of the gateway.', 'req_0123456789abcdef01234567'),
  'x-gateway-provider': text(
    'The upstream that answered; of a turn of a conversation all of them.',
    'openai',
  ),
  'x-gateway-model': text(
    'The model of the catalog that answered and is charged; of a turn of a conversation all of them.',
    'gpt-5.6-luna',
  ),
  deprecation: text(
    'Since when the model is deprecated: `@` and Unix seconds. Only on answers of such a model.',
    '@1798761600',
  ),
  sunset: text(
    'When the model ends. Only on answers of a deprecated model.',
    'Fri, 01 Jan 2027 00:00:00 GMT',
  ),
  link: text('The successor of a deprecated model.', '</v1/models/new-model>; rel="successor-version"'),
  'x-gateway-latency-ms': number('Time spent in the gateway, not upstream.'),
  'x-gateway-cost-usd': number(
    'What the answer cost. Not on streams, whose last chunk tells it in `usage.cost_usd`.',
  ),
  'x-gateway-balance-usd': number("The account's balance before this request."),
  'x-ratelimit-limit-requests': count('Requests a minute that the key may send. Only where it has a limit.'),
  'x-ratelimit-remaining-requests': count('Requests that are left of them now.'),
  'x-ratelimit-reset-requests': text('Until all of them are there again.', '12s'),
  'x-ratelimit-limit-tokens': count('Tokens a minute that the key may use. Only where it has a limit.'),
  'x-ratelimit-remaining-tokens': count('Tokens that are left of them now.'),
  'x-ratelimit-reset-tokens': text('Until all of them are there again.', '12s'),
  'x-gateway-data-as-of': text(
    'Up to when the answer knows everything. Only where it was read from a replica of the database, which may be a few seconds behind.',
    '2026-11-17T09:30:00.000Z',
  ),
  'retry-after': { description: 'Whole seconds.', schema: { type: 'integer', minimum: 1 } },
  'idempotent-replayed': text(
    '`true`: a request with the same `Idempotency-Key` was answered with this before. Charged nothing.',
    'true',
  ),
  'original-request': text('The id of the request that was answered first. Only with `idempotent-replayed`.'),
  'www-authenticate': text('How to authenticate.', 'Bearer'),
  'x-should-retry': text('`false`: the clients of OpenAI and Anthropic do not retry.', 'false'),
}

const RATE_HEADERS = ['requests', 'tokens'].flatMap((of) =>
  ['limit', 'remaining', 'reset'].map((name) => `x-ratelimit-${name}-${of}`),
)

const INFERENCE_HEADERS = [
  'x-gateway-provider',
  'x-gateway-model',
  'deprecation',
  'sunset',
  'link',
  'x-gateway-latency-ms',
  'x-gateway-cost-usd',
  'x-gateway-balance-usd',
  ...RATE_HEADERS,
]

const ERROR_HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ['www-authenticate', 'x-should-retry'],
  402: ['x-should-retry'],
  409: ['retry-after'],
  429: ['retry-after', ...RATE_HEADERS],
  503: ['retry-after', 'x-should-retry'],
}

const REPLAY_HEADERS = ['idempotent-replayed', 'original-request']

export function describeAnswerHeaders({
  isInference,
  isRepeatable,
  mayBeOld,
}: {
  isInference: boolean
  /** Whether the operation accepts an `Idempotency-Key`. */
  isRepeatable: boolean
  mayBeOld: boolean
}): JsonObject {
  return refer([
    ...(isInference ? INFERENCE_HEADERS : []),
    ...(isRepeatable ? REPLAY_HEADERS : []),
    ...(mayBeOld ? ['x-gateway-data-as-of'] : []),
  ])
}

export function describeErrorHeaders(status: number): JsonObject {
  return refer(ERROR_HEADERS[status] ?? [])
}

function refer(names: readonly string[]): JsonObject {
  const all = ['x-request-id', ...names]
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
