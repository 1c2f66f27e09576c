import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { WORST_BODIES } from './worst-bodies.ts'

const MODEL = 'gpt-4o-mini'
const BODY_BYTES = 900 * 1024
/** Worst requests that run at the same time, each followed by the next. */
const FLOOD_AT_ONCE = 8
const ROUNDS = 20
/**
 * Worst requests that may end while one of the other account's runs. A request that waited for all that came before it would
 * see the whole flood end, so the count does not depend on the speed of the machine.
 */
const OVERTAKING_MAX = 4 * FLOOD_AT_ONCE

/** A database that gets little of a busy machine is waited for: only the order of the answers counts. */
const PATIENT = {
  PARKWAY_DATABASE_CONNECT_TIMEOUT_MS: '60000',
  PARKWAY_STATEMENT_TIMEOUT_MS: '600000',
}

let gateway: TestGateway
let flooding: string
let other: string

beforeAll(async () => {
  gateway = await startTestGateway({ settings: PATIENT, mayAnswerAnything: true })
  flooding = await createKey('Flooding')
  other = await createKey('Other')
})

afterAll(() => gateway.close())

async function createKey(name: string): Promise<string> {
  const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
    body: { name, credit_usd: 10 },
  })
  const { body: key } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
    body: { scopes: ['inference', 'manage'] },
  })
  return key.key
}

interface WorstRequest {
  readonly method: string
  readonly path: string
  readonly body?: string
}

/** Every kind of request that once held up a gateway. */
function listWorst(responseId: string): WorstRequest[] {
  const bodies = Object.values(WORST_BODIES).map((make) => make(BODY_BYTES))
  const post = (path: string, body: string): WorstRequest => ({ method: 'POST', path, body })
  const continued = JSON.stringify({ model: MODEL, input: 'On', previous_response_id: responseId })
  return [
    ...bodies.flatMap((value) => [
      post('/v1/chat/completions', `{"model":"${MODEL}","messages":${value}}`),
      post('/v1/responses', `{"model":"${MODEL}","input":${value}}`),
      post('/v1/tenants/me/api-keys', `{"name":"x","metadata":${value}}`),
    ]),
    post('/v1/responses/input_tokens', continued),
    { method: 'GET', path: `/v1/responses/${responseId}/input_items` },
    { method: 'GET', path: '/v1/requests' },
    { method: 'GET', path: '/v1/usage/timeseries' },
  ]
}

test('an account that sends every worst request at once does not make another one wait for them', async () => {
  const stored = await gateway.request('POST', '/v1/responses', {
    key: flooding,
    body: { model: MODEL, input: 'hello you '.repeat(20_000) },
  })
  expect(stored.status).toBe(200)
  const worst = listWorst(stored.body.id)
  const state = { next: 0, finished: 0, isOver: false }
  const flood = Array.from({ length: FLOOD_AT_ONCE }, async () => {
    while (!state.isOver) {
      const { method, path, body } = worst[state.next++ % worst.length] ?? {
        method: 'GET',
        path: '/v1/tasks',
      }
      const { status } = await gateway.request(method, path, {
        key: flooding,
        ...(body === undefined ? {} : { body }),
      })
      expect([path, status]).not.toEqual([path, 500])
      state.finished += 1
    }
  })
  const overtaken: number[] = []
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = state.finished
      // Neither needs a commit, which waits for the disk and not for the flood.
      const path = round % 2 === 0 ? '/v1/models' : '/v1/tenants/me/api-keys'
      const { status } = await gateway.request('GET', path, { key: other })
      expect(status).toBe(200)
      overtaken.push(state.finished - before)
    }
  } finally {
    state.isOver = true
    await Promise.all(flood)
  }
  expect(Math.max(...overtaken)).toBeLessThanOrEqual(OVERTAKING_MAX)
})
