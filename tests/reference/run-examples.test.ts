import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'
import { safetensorsFile, startHub } from '../upstreams/hub-server.ts'

/** Examples with a key or a code of their own, which no gateway knows, and those that only the operator's settings allow. */
const NEEDS_MORE: Readonly<Record<string, string>> = {
  'POST /v1/batches': 'a file of requests',
  'POST /v1/files': 'an account without zero data retention, which an example before it sets',
  'POST /v1/uploads': 'an account without zero data retention, which an example before it sets',
  'POST /v1/saved-chats': 'an account without zero data retention, which an example before it sets',
  'POST /v1/sessions': 'a key of the gateway',
  'POST /v1/sessions/current/confirm': 'a session',
  'POST /v1/sessions/project': 'a session',
  'POST /v1/sessions/passkey': 'a passkey',
  'POST /v1/sessions/current/confirm/passkey': 'a passkey',
  'POST /v1/passkeys': 'a passkey',
  'POST /v1/invites/read': 'a code, which another example makes',
  'POST /v1/invites/passkey': 'a code, which another example makes',
  'POST /v1/invites/accept': 'a code, which another example makes',
  'POST /v1/identities': 'a ticket of a directory',
  'POST /v1/organization/budget_requests': 'a budget, which another example makes',
  'POST /v1/device-authorizations/find': 'a session of a person, and a code',
  'POST /v1/device-authorizations/approve': 'a session of a person, and a code',
  'POST /v1/device-authorizations/deny': 'a session of a person, and a code',
  'POST /v1/admin/providers/test': 'a server that answers',
  'POST /v1/admin/price_imports/apply': 'a list, which another example compares',
  'POST /scim/v2/Users': 'a token of a directory',
  'POST /scim/v2/Groups': 'a token of a directory',
  'PATCH /v1/body-storage': 'a setting of the operator',
  'POST /v1/admin/operators': 'a person of the account',
  'POST /v1/promo/redeem': 'a code, which another example makes',
}

interface Operation {
  readonly requestBody?: { readonly content: Record<string, { readonly example?: unknown }> }
}

let hub: Awaited<ReturnType<typeof startHub>>
let gateway: TestGateway
let examples: readonly { operation: string; path: string; method: string; example: unknown }[]

beforeAll(async () => {
  hub = await startHub({
    'Qwen/Qwen3-8B': {
      info: { cardData: { license: 'apache-2.0' } },
      files: {
        'config.json': {
          architectures: ['Qwen3ForCausalLM'],
          model_type: 'qwen3',
          max_position_embeddings: 40_960,
        },
        'model.safetensors': safetensorsFile({ weights: { dtype: 'BF16', shape: [1_000] } }),
      },
    },
  })
  gateway = await startTestGateway({
    settings: {
      PARKWAY_BOOTSTRAP_CREDIT_USD: '1000',
      PARKWAY_SANDBOX_GPU_START_MS: '100',
      HF_ENDPOINT: hub.url,
      PARKWAY_OUTBOUND_ALLOW: hub.cdnHost,
    },
  })
  const { body } = await gateway.request('GET', '/openapi.json', { key: null })
  examples = Object.entries<Record<string, Operation>>(body.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) => {
      const example = requestBody?.content['application/json']?.example
      const operation = `${method.toUpperCase()} ${path}`
      return example === undefined || path.includes('{') ? [] : [{ operation, path, method, example }]
    }),
  )
})
afterAll(async () => {
  await gateway.close()
  await hub.close()
})

const run = ({
  method,
  path,
  example,
}: {
  method: string
  path: string
  example: unknown
}): Promise<TestAnswer> => gateway.request(method.toUpperCase(), path, { body: example })

test('every example of a request works as it stands', async () => {
  const failed: unknown[] = []
  for (const one of examples) {
    if (Object.hasOwn(NEEDS_MORE, one.operation)) continue
    const { status, body } = await run(one)
    if (status >= 400) failed.push([one.operation, status, body])
  }
  expect(failed).toEqual([])
  expect(examples.length).toBeGreaterThan(30)
  const promo = examples.find(({ operation }) => operation === 'POST /v1/promo/redeem')
  if (promo !== undefined) expect((await run(promo)).status).toBe(200)
})

test('the example of a comparison run answers every cell', async () => {
  const one = examples.find(({ operation }) => operation === 'POST /v1/compare/runs')
  if (one === undefined) throw new Error('the reference has no example of a run')
  const { body: made } = await run(one)
  await eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/compare/runs/${made.id}`)
    expect([body.status, body.cells_failed, body.cells_done]).toEqual(['completed', 0, body.cells_total])
  })
})
