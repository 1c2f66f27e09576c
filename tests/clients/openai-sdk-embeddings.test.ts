import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { embeddings, SMALL, startEmbeddingGateway, toBase64 } from '../embeddings/start-embedding-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway()
  client = connect(gateway)
})

afterAll(() => gateway.close())

function connect({ key, baseUrl }: TestGateway): OpenAI {
  return new OpenAI({ apiKey: key, baseURL: `${baseUrl}/v1`, maxRetries: 0 })
}

describe('embeddings with the OpenAI SDK', () => {
  test('are returned as numbers although it asks for base64', async () => {
    const { data, model, usage } = await client.embeddings.create({
      model: SMALL,
      input: ['A boat on a lake', 'A ship at sea', 'Compound interest'],
    })
    const [boat, ship, interest] = data.map(({ embedding }) => embedding)
    const nearness = (a: number[] = [], b: number[] = []) =>
      a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
    expect(boat).toHaveLength(1536)
    expect(nearness(boat, boat)).toBeCloseTo(1, 4)
    expect(nearness(boat, ship)).toBeGreaterThan(nearness(boat, interest))
    expect([model, usage.total_tokens]).toEqual([SMALL, usage.prompt_tokens])
    expect(usage).toHaveProperty('cost_usd', expect.any(Number))
  })

  test('are the same as numbers and as base64, with the requested dimensions', async () => {
    const request = { model: SMALL, input: 'A boat on a lake', dimensions: 64 }
    const asDefault = await client.embeddings.create(request)
    const asFloat = await client.embeddings.create({ ...request, encoding_format: 'float' })
    expect(asDefault.data[0]?.embedding).toHaveLength(64)
    for (const [index, value] of (asFloat.data[0]?.embedding ?? []).entries())
      expect(asDefault.data[0]?.embedding[index]).toBeCloseTo(value, 5)
  })

  test('fail with its own errors', async () => {
    await expect(client.embeddings.create({ model: SMALL, input: '' })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'input',
    })
    await expect(client.embeddings.create({ model: 'gpt-4o-mini', input: 'a' })).rejects.toThrow(
      '/v1/chat/completions',
    )
  })

  describe('of an upstream', () => {
    let behind: ChatGateway

    beforeAll(async () => {
      behind = await startEmbeddingGateway()
    })

    afterAll(() => behind.close())

    test.each([
      ['knows base64', toBase64([0.25, -0.5])],
      ['knows only numbers', [0.25, -0.5]],
    ])('of an upstream that %s are numbers', async (_name, sent) => {
      behind.upstream.respondWith(embeddings([sent]))
      const { data } = await connect(behind).embeddings.create({ model: SMALL, input: 'a' })
      expect([...(data[0]?.embedding ?? [])]).toEqual([0.25, -0.5])
    })
  })
})

describe('moderation with the OpenAI SDK', () => {
  test('classifies texts, and needs no model', async () => {
    const { id, model, results } = await client.moderations.create({
      input: ['A nice day.', 'I will kill you.'],
    })
    expect([id.startsWith('modr-'), model]).toEqual([true, 'omni-moderation-latest'])
    expect(results.map(({ flagged }) => flagged)).toEqual([false, true])
    expect(results[1]?.categories.violence).toBe(true)
    expect(results[1]?.category_applied_input_types.violence).toEqual(['text'])
  })

  test('classifies images with their text', async () => {
    const { results } = await client.moderations.create({
      model: 'omni-moderation-latest',
      input: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: 'https://example.com/tree.png' } },
      ],
    })
    expect(results).toHaveLength(1)
    expect(results[0]?.category_applied_input_types.violence).toEqual(['text', 'image'])
  })
})
