import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { postCharges } from '../../src/modules/ledger/ledger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { startChatGateway, UPSTREAM_KEY, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { createAccountKey } from '../clients/create-key.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'

let gateway: ChatGateway
let database: Database
let key: string
let accountId: string

beforeAll(async () => {
  gateway = await startChatGateway({ settings: { PARKWAY_ROLE: 'api' } })
  const { connectionString } = gateway
  const options = { poolSize: 1, statementTimeoutMs: 10_000, prepareStatements: true, logger: silentLogger }
  database = connectDatabase({ connectionString, ...options })
})

afterAll(async () => {
  await database.close()
  await gateway.close()
})

beforeEach(async () => {
  const account = await createAccountKey(gateway, { name: 'tenant', credit_usd: 5 })
  key = account.key
  accountId = account.accountId
  gateway.upstream.requests.length = 0
})

const startWorker = () =>
  startTestGateway({
    connectionString: gateway.connectionString,
    settings: {
      OPENAI_API_KEY: UPSTREAM_KEY,
      OPENAI_BASE_URL: gateway.upstream.apiUrl,
      OPENAI_WIRES: 'openai-chat',
    },
  })

const WORDS = 200
const EVENTS = [
  { type: 'response.created', response: { status: 'in_progress', output: [] } },
  { type: 'response.output_text.delta', delta: ' word'.repeat(WORDS) },
]

interface Lost {
  readonly responseId: string
  /** Answered when the response has ended. */
  readonly streamed: ReturnType<ChatGateway['request']>
}

/** Leaves a streamed response as a killed process does: with the events of a minute's work, and without a worker. */
async function leaveResponse(asked: object): Promise<Lost> {
  const body = { model: 'gpt-4o-mini', input: 'Count', background: true, stream: true, ...asked }
  const streamed = gateway.request('POST', '/v1/responses', { key, body })
  const responseId = await eventually(async () => {
    const [row] = await database.query<{ id: string }>(
      `SELECT responses.id FROM responses JOIN tasks ON tasks.request_id = 'req_' || substr(responses.id, 6)
       WHERE responses.account_id = $1`,
      [accountId],
    )
    expect(row).toBeDefined()
    return row?.id ?? ''
  })
  await database.query(
    'INSERT INTO response_events (account_id, response_id, sequence, events) VALUES ($1, $2, 0, $3)',
    [accountId, responseId, EVENTS.map((event) => JSON.stringify(event)).join('\n')],
  )
  await database.query(`UPDATE tasks SET started_at = now() - interval '1 minute' WHERE account_id = $1`, [
    accountId,
  ])
  return { responseId, streamed }
}

async function readCharges() {
  await postCharges(database)
  return database.query<{ cost: bigint; prompt: number; completion: number; outcome: string }>(
    `SELECT cost_nano_usd AS cost, prompt_tokens::int AS prompt, completion_tokens::int AS completion, outcome
     FROM usage_records WHERE account_id = $1`,
    [accountId],
  )
}

const readBalance = async (): Promise<number> =>
  (await gateway.request('GET', `/v1/admin/accounts/${accountId}`)).body.balance_usd

async function readFailed(responseId: string): Promise<string> {
  return eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/responses/${responseId}`, { key })
    expect(body.status).toBe('failed')
    return body.error.message
  })
}

test('a background stream that a crash ended costs its prompt and what was delivered, and says so', async () => {
  const { responseId, streamed } = await leaveResponse({})
  const worker = await startWorker()
  try {
    const { body: events } = await streamed
    expect(events).toContain('event: response.failed')
    const [charge, ...others] = await readCharges()
    expect(others).toEqual([])
    expect(charge).toMatchObject({ completion: WORDS, outcome: 'failed' })
    expect(charge?.prompt).toBeGreaterThan(0)
    const costUsd = Number(charge?.cost ?? 0n) / 1e9
    expect(costUsd).toBeGreaterThan(0)
    expect(await readFailed(responseId)).toMatch(/prompt and what was delivered are charged: 0\.0\d+ USD/)
    expect(await readBalance()).toBeCloseTo(5 - costUsd, 9)
    expect(gateway.upstream.requests).toEqual([])
  } finally {
    await worker.close()
  }
})

test('a worker that dies between the charge and the failure leaves a response that is charged once', async () => {
  const { responseId, streamed } = await leaveResponse({})
  await database.query('CREATE TEMP TABLE left_tasks AS SELECT * FROM tasks WHERE account_id = $1', [
    accountId,
  ])
  const worker = await startWorker()
  try {
    await streamed
    const before = await readCharges()
    const message = await readFailed(responseId)
    const balance = await readBalance()
    await database.query('DELETE FROM tasks WHERE account_id = $1', [accountId])
    await database.query('INSERT INTO tasks SELECT * FROM left_tasks')
    await eventually(async () => {
      const [row] = await database.query<{ status: string }>(
        'SELECT status FROM tasks WHERE account_id = $1',
        [accountId],
      )
      expect(row?.status).toBe('failed')
    })
    expect(await readFailed(responseId)).toBe(message)
    expect(await readCharges()).toEqual(before)
    expect(await readBalance()).toBe(balance)
  } finally {
    await worker.close()
  }
})

test('hidden reasoning of a stream that a crash ended is charged as that of work nobody reads', async () => {
  const { streamed } = await leaveResponse({ model: 'o4-mini', max_output_tokens: 5_000 })
  const worker = await startWorker()
  try {
    await streamed
    expect(await readCharges()).toMatchObject([{ completion: 5_000 }])
  } finally {
    await worker.close()
  }
})

test('a key that is revoked after the crash pays for what was delivered', async () => {
  const { streamed } = await leaveResponse({})
  await database.query('UPDATE api_keys SET revoked_at = now() WHERE account_id = $1', [accountId])
  const worker = await startWorker()
  try {
    await streamed
    expect(await readCharges()).toMatchObject([{ completion: WORDS }])
  } finally {
    await worker.close()
  }
})

test('credit that is missing for what was delivered becomes a debt', async () => {
  const { streamed } = await leaveResponse({})
  const deduction = { amount_usd: -5, reason: 'spent elsewhere' }
  await gateway.request('POST', `/v1/admin/accounts/${accountId}/credit`, { body: deduction })
  await eventually(async () => expect(await readBalance()).toBe(0))
  const worker = await startWorker()
  try {
    await streamed
    await eventually(async () => expect(await readBalance()).toBeLessThan(0))
  } finally {
    await worker.close()
  }
})

describe('a response that the crash left is given up before another process finds it', () => {
  const cancel = (id: string) => gateway.request('POST', `/v1/responses/${id}/cancel`, { key })
  const remove = (id: string) => gateway.request('DELETE', `/v1/responses/${id}`, { key })
  const untilLookedAfter = () =>
    eventually(async () => {
      const left = await database.query(
        'SELECT id FROM tasks WHERE account_id = $1 AND leaving_worker_id IS NOT NULL',
        [accountId],
      )
      expect(left).toEqual([])
    })

  test.each([
    ['cancelled', cancel, 200],
    ['deleted', remove, 404],
  ] as const)('one that is %s pays for what was delivered, once', async (_name, giveUp, status) => {
    const { responseId } = await leaveResponse({})
    expect((await giveUp(responseId)).status).toBe(200)
    expect((await gateway.request('GET', `/v1/responses/${responseId}`, { key })).status).toBe(status)
    const worker = await startWorker()
    try {
      await untilLookedAfter()
      const charges = await readCharges()
      expect(charges).toMatchObject([{ completion: WORDS }])
      // A worker that dies after the charge leaves the task to the next one.
      await database.query('UPDATE tasks SET leaving_worker_id = gen_random_uuid() WHERE account_id = $1', [
        accountId,
      ])
      await untilLookedAfter()
      expect(await readCharges()).toEqual(charges)
      expect(gateway.upstream.requests).toEqual([])
    } finally {
      await worker.close()
    }
  })

  test('one of which nothing was delivered is free', async () => {
    const { responseId } = await leaveResponse({})
    await database.query('DELETE FROM response_events WHERE account_id = $1', [accountId])
    await cancel(responseId)
    const worker = await startWorker()
    try {
      await untilLookedAfter()
      expect(await readCharges()).toEqual([])
    } finally {
      await worker.close()
    }
  })
})
