import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { createAccountKey, createKey } from '../clients/create-key.ts'
import { embeddingBody, EMBEDDINGS, embeddings, startEmbeddingGateway } from './start-embedding-gateway.ts'
import { eventually } from '../support/eventually.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startEmbeddingGateway()
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.upstream.respondWith(embeddings())
})

const ask = (members: object = {}, key = gateway.key) =>
  gateway.request('POST', EMBEDDINGS, { body: embeddingBody(members), key })

async function expectRefusal(
  asking: ReturnType<typeof ask>,
  expected: { status: number; code: string; param?: string | null; message?: RegExp },
): Promise<void> {
  const { status, body } = await asking
  const { code, param } = body.error
  expect({ status, code, param }).toEqual({ param: null, ...expected, message: undefined })
  if (expected.message) expect(body.error.message).toMatch(expected.message)
  expect(gateway.upstream.requests).toHaveLength(0)
}

describe('an embedding is refused before an upstream is called', () => {
  test.each<[string, object, string, string]>([
    ['without a model', { model: undefined }, 'missing_required_parameter', 'model'],
    ['without an input', { input: undefined }, 'missing_required_parameter', 'input'],
    ['of an empty text', { input: '' }, 'invalid_value', 'input'],
    ['of nothing', { input: [] }, 'invalid_value', 'input'],
    ['of an empty text among others', { input: ['a', ''] }, 'invalid_value', 'input.1'],
    ['of a number', { input: 5 }, 'invalid_value', 'input'],
    ['of more than 2048 texts', { input: Array.from({ length: 2049 }, () => 'a') }, 'invalid_value', 'input'],
    ['of tokens that are none', { input: [[1, -1]] }, 'invalid_value', 'input.0.1'],
    ['of an empty list of tokens', { input: [[1], []] }, 'invalid_value', 'input.1'],
    ['in an unknown encoding', { encoding_format: 'hex' }, 'invalid_value', 'encoding_format'],
    ['of no dimensions', { dimensions: 0 }, 'invalid_value', 'dimensions'],
    ['of more dimensions than the model has', { dimensions: 1537 }, 'invalid_value', 'dimensions'],
    [
      'of dimensions the model does not have',
      { model: 'voyage-3.5', dimensions: 300 },
      'invalid_value',
      'dimensions',
    ],
  ])('%s', async (_name, members, code, param) => {
    await expectRefusal(ask(members), { status: 400, code, param })
  })

  test('an embedding is refused before an upstream is called of too many tokens', async () => {
    const message = /at most 8191 tokens/
    const expected = { status: 400, code: 'context_length_exceeded', message }
    const ids = Array.from({ length: 8192 }, () => 1)
    await expectRefusal(ask({ input: ids }), { ...expected, param: 'input' })
    await expectRefusal(ask({ input: [[1], ids] }), { ...expected, param: 'input.1' })
    await expectRefusal(ask({ input: ['a', 'word '.repeat(9000)] }), { ...expected, param: 'input.1' })
  })

  test('with a model of another kind, naming its route', async () => {
    const refusal = { status: 400, code: 'invalid_value', param: 'model' }
    await expectRefusal(ask({ model: 'gpt-4o-mini' }), { ...refusal, message: /\/v1\/chat\/completions/ })
    await expectRefusal(ask({ model: 'rerank-v3.5' }), { ...refusal, message: /\/v1\/rerank/ })
  })

  test('with an unknown model', async () => {
    await expectRefusal(ask({ model: 'no-such-model' }), {
      status: 404,
      code: 'model_not_found',
      param: 'model',
    })
  })

  test('with a model without a configured provider, for a live key', async () => {
    const key = await createKey(gateway, { name: 'live', env: 'live' })
    await expectRefusal(ask({ model: 'nowhere' }, key), {
      status: 503,
      code: 'provider_not_configured',
      param: 'model',
    })
  })

  test('an embedding is refused before an upstream is called to a key that may not use the model', async () => {
    const key = await createKey(gateway, { name: 'narrow', env: 'dev', allowed_models: ['two-routes'] })
    await expectRefusal(ask({}, key), { status: 403, code: 'model_not_allowed', param: 'model' })
    expect((await ask({ model: 'two-routes-alias' }, key)).status).toBe(200)
  })

  test('without a key, and to a key without the scope', async () => {
    await expectRefusal(ask({}, 'pk-dev-unknown'), { status: 401, code: 'invalid_api_key' })
    const key = await createKey(gateway, { name: 'manager', env: 'dev', scopes: ['manage'] })
    await expectRefusal(ask({}, key), { status: 403, code: 'forbidden' })
  })

  test('an embedding is refused before an upstream is called to an account without credit', async () => {
    const { key } = await createAccountKey(gateway, { name: 'poor', credit_usd: 0 })
    await expectRefusal(ask({}, key), { status: 402, code: 'insufficient_balance', message: /needed/ })
  })

  test('an embedding is refused before an upstream is called to a key whose cap is reached', async () => {
    const key = await createKey(gateway, { name: 'capped', env: 'dev', limit_usd: 0.000000001 })
    await expectRefusal(ask({}, key), { status: 402, code: 'key_limit_reached' })
  })
})

describe('an account with little credit', () => {
  test('is served while the tokens are covered, even if the bytes are not', async () => {
    // 800 bytes, about 160 tokens at $1 per million. Counted as bytes, it would cost $0.0008.
    const input = 'word '.repeat(160)
    const { key } = await createAccountKey(gateway, { name: 'frugal', credit_usd: 0.0003 })
    gateway.upstream.respondWith(embeddings([[1]], { usage: { prompt_tokens: 161, total_tokens: 161 } }))
    const { status, headers } = await ask({ model: 'on-vllm', input }, key)
    expect([status, headers.get('x-gateway-cost-usd')]).toEqual([200, '0.000161'])
    const again = await ask({ model: 'on-vllm', input }, key)
    expect([again.status, again.body.error.code]).toEqual([402, 'insufficient_balance'])
  })

  test('is never charged more than its credit, and owes the rest', async () => {
    const { key } = await createAccountKey(gateway, { name: 'billed', credit_usd: 0.0001 })
    gateway.upstream.respondWith(embeddings([[1]], { usage: { prompt_tokens: 1e6, total_tokens: 1e6 } }))
    const { body } = await ask({ model: 'on-vllm', input: 'a' }, key)
    expect(body.usage.cost_usd).toBeLessThanOrEqual(0.0001)
    await eventually(async () => {
      const { body: account } = await gateway.request('GET', '/v1/tenants/me', { key })
      expect(account.balance_usd).toBeCloseTo(0.0001 - 1, 9)
    })
  })
})
