import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { startCompareGateway } from './start-compare-gateway.ts'
import { RUNS } from './wait-for-run.ts'

const NOBODY = '01890000-0000-7000-8000-000000000000'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue'])
})
afterAll(() => gateway.close())

describe('creating a run is refused', () => {
  const lanes = [{ model: 'red' }, { model: 'blue' }]
  const prompts = ['one']

  test.each([
    ['without prompts', { lanes }, 'missing_required_parameter', 'prompts'],
    ['without lanes', { prompts }, 'missing_required_parameter', 'lanes'],
    ['with one lane', { prompts, lanes: lanes.slice(1) }, 'invalid_value', 'lanes'],
    ['with eleven lanes', { prompts, models: Array(11).fill('red') }, 'invalid_value', 'models'],
    ['with no prompt', { prompts: [], lanes }, 'invalid_value', 'prompts'],
    ['with 1,001 prompts', { prompts: Array(1001).fill('x'), lanes }, 'invalid_value', 'prompts'],
    ['with eleven repeats', { prompts, lanes, repeats: 11 }, 'invalid_value', 'repeats'],
    ['with no budget', { prompts, lanes, budget_usd: 0 }, 'invalid_value', 'budget_usd'],
    ['with lanes and models', { prompts, lanes, models: ['red', 'blue'] }, 'invalid_value', 'models'],
    ['with prompts and a prompt', { prompts, prompt: 'x', lanes }, 'invalid_value', 'prompts'],
    [
      'with a wrong parameter',
      { prompts, lanes: [{ model: 'red', temperature: 9 }, { model: 'blue' }] },
      'invalid_value',
      'lanes.0.temperature',
    ],
    ['with a prompt of nothing', { prompts: ['a', {}], lanes }, 'invalid_value', 'prompts.1'],
    [
      'with a broken pattern',
      { prompts: [{ prompt: 'a', expected: { type: 'regex', value: '(' } }], lanes },
      'invalid_value',
      'prompts.0.expected.value',
    ],
    [
      'with an embedding model',
      { prompts, lanes: [{ model: 'red' }, { model: 'text-embedding-3-small' }] },
      'invalid_value',
      'lanes.1.model',
    ],
  ])('%s', async (_, body, code, param) => {
    for (const path of [RUNS, '/v1/compare/estimates']) {
      const answer = await gateway.request('POST', path, { body })
      expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([400, code, param])
    }
  })

  test.each([
    ['a model that does not exist', { prompts, models: ['red', 'nobody'] }, 'model_not_found'],
    ['a judge that does not exist', { prompts, lanes, judge: { model: 'nobody' } }, 'model_not_found'],
    ['a dataset that does not exist', { dataset_id: NOBODY, lanes }, 'not_found'],
    ['a conversation that does not exist', { conversation_id: NOBODY, lanes }, 'not_found'],
  ])('for %s', async (_, body, code) => {
    const answer = await gateway.request('POST', RUNS, { body })
    expect([answer.status, answer.body.error.code]).toEqual([404, code])
  })

  test('creating a run is refused to a key that may not use the model, and without a key', async () => {
    const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'red only', env: 'dev', allowed_models: ['red'] },
    })
    const refused = await gateway.request('POST', RUNS, { key: key.key, body: { prompts, lanes } })
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
      403,
      'model_not_allowed',
      'lanes.1.model',
    ])
    expect((await gateway.request('POST', RUNS, { key: null, body: { prompts, lanes } })).status).toBe(401)
  })
})

test('an estimate says what a run would cost and take, and makes none', async () => {
  const body = { prompts: ['one', 'two'], models: ['red', 'blue'], repeats: 3 }
  const estimate = await gateway.request('POST', '/v1/compare/estimates', { body })
  expect([estimate.status, estimate.body]).toMatchObject([
    200,
    { object: 'compare.estimate', prompts_total: 2, cells_total: 12, estimated_judge_cost_usd: 0 },
  ])
  expect((await gateway.request('GET', RUNS)).body.total).toBe(0)
  const { body: run } = await gateway.request('POST', RUNS, { body })
  expect(run).toMatchObject({
    estimated_cost_usd: estimate.body.estimated_cost_usd,
    estimated_duration_seconds: estimate.body.estimated_duration_seconds,
  })
})
