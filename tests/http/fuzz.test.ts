import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRandom } from '../../src/kernel/seeded-random.ts'
import { longOr } from '../support/long-or.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { countStallsAbove } from './count-stalls.ts'
import { makeHostileRequest, type FuzzedOperation, type HostileRequest } from './hostile-request.ts'

/** A fixed seed gives the same requests in each run. `FUZZ_SEED` sets another seed, `FUZZ_REQUESTS` the number of requests. */
const SEED = Number(process.env['FUZZ_SEED'] ?? 17)
const REQUESTS_PER_OPERATION = Number(process.env['FUZZ_REQUESTS'] ?? longOr(8, 3))
/** Much longer than bounded work takes on a loaded machine. */
const STALL_SECONDS = '5'
const REPORTED_CHARACTERS_MAX = 600
/** 5xx statuses that are allowed, because they report a failure of a dependency. */
const DOCUMENTED_FAILURES = [502, 503]
const LIMITS = JSON.stringify({
  tiers: [
    {
      name: 'free',
      balance_usd: 0,
      requests_per_minute: null,
      tokens_per_minute: null,
      concurrent_requests: null,
      spend_usd_per_minute: null,
    },
  ],
  strangers: { requests_per_minute: 1_000_000 },
})

interface Document {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly schemas: Record<string, Schema> }
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: {
    readonly content: Record<string, { readonly schema?: Schema; readonly example?: unknown }>
  }
  readonly responses: Record<string, unknown>
}

interface Schema {
  readonly $ref?: string
  readonly properties?: Record<string, unknown>
}

let gateway: TestGateway
let document: Document
/** Ids of objects that belong to another account than the one that sends the requests. */
let ids: string[]

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_LIMITS: LIMITS } })
  document = (await gateway.request('GET', '/openapi.json', { key: null })).body
  ids = await createStranger()
})

afterAll(() => gateway.close())

async function createStranger(): Promise<string[]> {
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name: 'Stranger', credit_usd: 1 },
  })
  const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
    body: { scopes: ['inference', 'manage'] },
  })
  const make = async (path: string, body: object): Promise<string> => {
    const answer = await gateway.request('POST', path, { key: key.key, body })
    return answer.body.id ?? answer.body.task_id
  }
  return [
    key.id,
    await make('/v1/compare/datasets', { name: 'theirs', prompts: ['Hi'] }),
    await make('/v1/compare/conversations', { models: ['gpt-4o-mini', 'gpt-5.4'] }),
    await make('/v1/payments/checkout', { amount_usd: 5 }),
    await make('/v1/audio/music', { prompt: 'A waltz' }),
  ]
}

function listOperations(): FuzzedOperation[] {
  return Object.entries(document.paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const content = operation.requestBody?.content ?? {}
      const json = content['application/json']
      const schema = resolve(json?.schema ?? content['multipart/form-data']?.schema)
      return {
        method: method.toUpperCase(),
        template,
        query: (operation.parameters ?? []).filter((given) => given.in === 'query').map(({ name }) => name),
        members: Object.keys(schema?.properties ?? {}),
        example: json?.example,
        takesForm: 'multipart/form-data' in content,
      }
    }),
  )
}

function resolve(schema: Schema | undefined): Schema | undefined {
  const name = schema?.$ref?.split('/').at(-1)
  return name === undefined ? schema : document.components.schemas[name]
}

/** Sends the request and returns why the answer is wrong, or null if it is correct. */
async function send(operation: FuzzedOperation, { path, body }: HostileRequest): Promise<string | null> {
  const { method, template } = operation
  const isForm = body instanceof FormData
  const response = await fetch(gateway.baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${gateway.key}`,
      ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
    },
    ...(body === undefined ? {} : { body }),
    redirect: 'manual',
  })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  // A stream of live figures has no end.
  const text = isStream ? '' : await response.text()
  if (isStream) await response.body?.cancel()
  const { status } = response
  const isDescribed = String(status) in (document.paths[template]?.[method.toLowerCase()]?.responses ?? {})
  const isOurFault = status >= 500 && !DOCUMENTED_FAILURES.includes(status)
  // A changed path may match another route or none, so 404 and 405 are allowed.
  if (!isOurFault && (isDescribed || status === 404 || status === 405)) return null
  const sent = isForm ? 'a form' : (body ?? 'no body')
  return `${method} ${path}: ${status}\n${sent}\n${text}`.slice(0, REPORTED_CHARACTERS_MAX)
}

test('no request crashes the gateway, gets an undocumented status, or blocks it', async () => {
  const stallsBefore = await countStallsAbove(gateway, STALL_SECONDS)
  const operations = listOperations()
  expect(operations.length).toBeGreaterThan(80)
  const wrong: string[] = []
  for (const [series, operation] of operations.entries()) {
    const random = createRandom(SEED, series)
    const requests = Array.from({ length: REQUESTS_PER_OPERATION }, () =>
      makeHostileRequest(operation, random, ids),
    )
    for (const problem of await Promise.all(requests.map((request) => send(operation, request))))
      if (problem !== null) wrong.push(problem)
  }
  expect(wrong, `with the seed ${SEED}`).toEqual([])
  expect(await countStallsAbove(gateway, STALL_SECONDS), `with the seed ${SEED}`).toBe(stallsBefore)
  // A valid request is still answered.
  expect((await gateway.request('GET', '/v1/tenants/me')).status).toBe(200)
})
