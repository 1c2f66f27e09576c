import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../app/call.ts'
import { makeRun, RUNS, waitForRun } from '../compare/wait-for-run.ts'
import { createAccount } from '../payments/accounts.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'

const BUDGETS = '/v1/organization/budgets'
const NANO = 1e9

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

interface Payer {
  request(method: string, path: string, rest?: { body?: unknown }): Promise<TestAnswer>
  setLimit(limitUsd: number): Promise<void>
  readonly budgetId: string
}

/** An account with much credit and a budget. */
async function createPayer(limitUsd: number): Promise<Payer> {
  const { key } = await createAccount(gateway, { creditUsd: 100 })
  const request: Payer['request'] = (method, path, rest = {}) =>
    gateway.request(method, path, { key, ...rest })
  const order = { subject: { type: 'account' }, window: 'month', limit_usd: limitUsd }
  const { status, body } = await request('POST', BUDGETS, { body: order })
  expect([status, body]).toEqual([200, body])
  return {
    request,
    budgetId: body.id,
    setLimit: async (limit) => {
      expect((await request('POST', `${BUDGETS}/${body.id}`, { body: { limit_usd: limit } })).status).toBe(
        200,
      )
    },
  }
}

/** What the budget counts, in nano-dollars, which is what the requests cost. */
async function readSpent(payer: Payer): Promise<number> {
  const { body: budget } = await payer.request('GET', `${BUDGETS}/${payer.budgetId}`)
  const { body: records } = await payer.request('GET', '/v1/usage/records?limit=100')
  const costs = records.data.map((record: { cost_usd: number }) => Math.round(record.cost_usd * NANO))
  const spent = Math.round(budget.spent_usd * NANO)
  expect(spent).toBe(costs.reduce((sum: number, cost: number) => sum + cost, 0))
  return spent
}

const codeOf = ({ status, body }: TestAnswer) => [status, body.error?.code ?? null]
const REFUSED = [402, 'budget_exceeded']

test('a task counts what it costs, and one that does not fit any more is refused', async () => {
  const payer = await createPayer(50)
  const order = { body: { model: 'veo-3.1', prompt: 'Waves', duration: 4 } }
  const { status, body: made } = await payer.request('POST', '/v1/videos/generations', order)
  expect([status, made]).toEqual([202, made])
  await until(async () => {
    const { body } = await payer.request('GET', `/v1/tasks/${made.id}`)
    return ['completed', 'failed'].includes(body.status) ? body : null
  })
  const spent = await readSpent(payer)
  expect(spent).toBeGreaterThan(0)
  await payer.setLimit((2 * spent - 1) / NANO)
  expect(codeOf(await payer.request('POST', '/v1/videos/generations', order))).toEqual(REFUSED)
  await payer.setLimit((2 * spent) / NANO)
  expect((await payer.request('POST', '/v1/videos/generations', order)).status).toBe(202)
  // Its hold counts before it has ended.
  expect(codeOf(await payer.request('POST', '/v1/videos/generations', order))).toEqual(REFUSED)
})

test('a comparison stops at a budget with its reason, and continues when it is raised', async () => {
  const payer = await createPayer(0.000001)
  const run = await makeRun(payer, { prompts: ['one', 'two'], models: ['gpt-5.4', 'gpt-5.4-mini'] })
  expect(run).toMatchObject({
    status: 'failed',
    cells_done: 0,
    cost_usd: 0,
    error: { code: 'budget_exceeded' },
  })
  expect(run.error.message).toMatch(/^The monthly budget of 0\.000001 USD of the account is reached/)
  expect(await readSpent(payer)).toBe(0)
  await payer.setLimit(10)
  await payer.request('POST', `${RUNS}/${run.id}/resume`)
  const finished = await waitForRun(payer, run.id)
  expect(finished).toMatchObject({ status: 'completed', cells_done: 4, error: null })
  expect(await readSpent(payer)).toBe(Math.round(finished.cost_usd * NANO))
})

test('the judge of a comparison keeps to a budget too, and what it was asked counts', async () => {
  const payer = await createPayer(10)
  const { status, body: ofJudge } = await payer.request('POST', BUDGETS, {
    body: { subject: { type: 'account' }, models: ['gpt-5.5'], window: 'month', limit_usd: 0.000001 },
  })
  expect([status, ofJudge]).toEqual([200, ofJudge])
  const judged = await makeRun(payer, {
    prompts: ['one'],
    models: ['gpt-5.4', 'gpt-5.4-mini'],
    judge: { model: 'gpt-5.5' },
  })
  expect(judged).toMatchObject({ status: 'failed', cells_done: 2, error: { code: 'budget_exceeded' } })
  const readJudged = async () => (await payer.request('GET', `${BUDGETS}/${ofJudge.id}`)).body.spent_usd
  expect(await readJudged()).toBe(0)
  const ofCells = await readSpent(payer)
  expect(ofCells).toBe(Math.round(judged.cost_usd * NANO))
  await payer.request('POST', `${BUDGETS}/${ofJudge.id}`, { body: { limit_usd: 10 } })
  await payer.request('POST', `${RUNS}/${judged.id}/resume`)
  const finished = await waitForRun(payer, judged.id)
  expect(finished).toMatchObject({ status: 'completed', error: null })
  expect(Math.round((await readJudged()) * NANO)).toBe((await readSpent(payer)) - ofCells)
  expect(await readSpent(payer)).toBe(Math.round(finished.cost_usd * NANO))
})

test('a background response that does not fit fails with the reason', async () => {
  const payer = await createPayer(0.000001)
  const order = { body: { model: 'gpt-5.4-mini', input: 'Hello', background: true } }
  const ask = async () => {
    const { status, body } = await payer.request('POST', '/v1/responses', order)
    if (status !== 200) return body
    return until(async () => {
      const { body: response } = await payer.request('GET', `/v1/responses/${body.id}`)
      return ['completed', 'failed', 'incomplete'].includes(response.status) ? response : null
    })
  }
  const refused = await ask()
  expect(refused.error.message).toMatch(/^The monthly budget of 0\.000001 USD of the account is reached/)
  expect(await readSpent(payer)).toBe(0)
  await payer.setLimit(10)
  expect((await ask()).status).toBe('completed')
  expect(await readSpent(payer)).toBeGreaterThan(0)
})

test('the lanes of a conversation do not go beyond a budget', async () => {
  const payer = await createPayer(0)
  const { body: made } = await payer.request('POST', '/v1/compare/conversations', {
    body: { models: ['gpt-5.4', 'gpt-5.4-mini'] },
  })
  const turns = `/v1/compare/conversations/${made.id}/turns`
  const ask = () => payer.request('POST', turns, { body: { content: 'Hello' } })
  expect(codeOf(await ask())).toEqual(REFUSED)
  await payer.setLimit(10)
  expect((await ask()).status).toBeLessThan(300)
  expect(await readSpent(payer)).toBeGreaterThan(0)
})
