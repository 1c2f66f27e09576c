import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { startNativeGateway, type NativeGateway } from './start-native-gateway.ts'

let gateway: NativeGateway

beforeAll(async () => {
  gateway = await startNativeGateway()
})

afterAll(() => gateway.close())

beforeEach(() => {
  gateway.anthropic.requests.length = 0
  gateway.upstream.requests.length = 0
})

const THINKING = { type: 'enabled', budget_tokens: 8_000, display: 'summarized' }

async function askWith(creditUsd: number, members: object = {}) {
  const key = await createStranger(gateway, creditUsd)
  const messages = [{ role: 'user', content: 'Hi' }]
  const body = { model: 'claude', max_tokens: 16_000, messages, thinking: THINKING, ...members }
  return gateway.request('POST', '/v1/messages', { key, body })
}

describe('a thinking budget', () => {
  test('is shortened with an answer that the credit does not cover', async () => {
    expect((await askWith(0.05)).status).toBe(200)
    const { body } = await gateway.anthropic.requestNumber(0)
    expect(body).toMatchObject({ thinking: { type: 'enabled', display: 'summarized' } })
    const { max_tokens: limit, thinking } = Object(body)
    expect(limit).toBeGreaterThan(4_000)
    expect(limit).toBeLessThan(5_000)
    expect(thinking.budget_tokens).toBe(Math.floor(limit / 2))
  })

  test("stays above the vendor's minimum, and below the answer", async () => {
    expect((await askWith(0.012)).status).toBe(200)
    const { max_tokens: limit, thinking } = Object((await gateway.anthropic.requestNumber(0)).body)
    expect(limit).toBeLessThan(1_200)
    expect(thinking.budget_tokens).toBe(1_024)
    expect(limit).toBeGreaterThan(1_024)
  })

  test.each([['claude'], ['either']])(
    'a thinking budget that is not covered is 402 of %s before an upstream is called',
    async (model) => {
      const { status, body } = await askWith(0.008, { model })
      expect([status, body.error.type]).toEqual([402, 'billing_error'])
      expect([gateway.anthropic.requests, gateway.upstream.requests]).toEqual([[], []])
      // Without thinking, the same credit is enough.
      expect((await askWith(0.008, { model, thinking: { type: 'disabled' } })).status).toBe(200)
    },
  )

  test('a thinking budget that never fitted is refused by the vendor', async () => {
    await askWith(5, { max_tokens: 8_000 })
    expect((await gateway.anthropic.requestNumber(0)).body).toMatchObject({
      max_tokens: 8_000,
      thinking: THINKING,
    })
  })

  test('in the form of the chat wire is shortened too', async () => {
    const key = await createStranger(gateway, 0.05)
    const body = {
      model: 'gpt-4o-mini',
      max_tokens: 100_000,
      messages: [{ role: 'user', content: 'Hi' }],
      reasoning: { max_tokens: 90_000 },
    }
    await gateway.request('POST', '/v1/chat/completions', { key, body })
    const sent = gateway.upstream.bodies()[0]
    expect(sent.max_completion_tokens).toBeLessThan(90_000)
    expect(sent.reasoning.max_tokens).toBeLessThan(sent.max_completion_tokens)
  })
})
