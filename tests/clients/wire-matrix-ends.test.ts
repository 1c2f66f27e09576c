import { generateText, streamText, type LanguageModel } from 'ai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import catalog from '../../src/modules/catalog/catalog.json' with { type: 'json' }
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import type { RecordedRequest, ScriptedReply, ScriptedServer } from '../upstreams/scripted-server.ts'
import { lastRequestText, type Vendor } from './vendors.ts'
import { MATRIX } from './wire-matrix.ts'

/** Returns the catalog price of the usage that a vendor reports, with this number of cached tokens. */
function priceOf({ model, usage: [prompt, completion] }: Vendor, cachedTokens = 0): number {
  const { price } = catalog.models.find(({ id }) => id === model) ?? {}
  const {
    input_usd_per_1m: input,
    cached_input_usd_per_1m: cached,
    output_usd_per_1m: output,
  } = {
    ...NO_PRICE,
    ...price,
  }
  return ((prompt - cachedTokens) * input + cachedTokens * cached + completion * output) / 1e6
}

const NO_PRICE = { input_usd_per_1m: 0, cached_input_usd_per_1m: 0, output_usd_per_1m: 0 }

describe.each(MATRIX)('$client, with $vendor.name behind', ({ vendor, connect, operation }) => {
  let server: ScriptedServer
  let gateway: TestGateway
  let model: LanguageModel

  beforeAll(async () => {
    server = await vendor.start()
    const settings = { ...vendor.settings(server.baseUrl), PARKWAY_DRAINS_MAX: '0' }
    gateway = await startTestGateway({ settings })
    model = connect(gateway, vendor.model)
  })

  beforeEach(() => {
    server.requests.length = 0
  })

  afterAll(async () => {
    await gateway.close()
    await server.close()
  })

  async function newRecords(count: number, before: number) {
    return eventually(async () => {
      const { body } = await gateway.request('GET', '/v1/usage/records?limit=20')
      expect(body.total).toBe(before + count)
      return body.data.slice(0, count)
    })
  }

  async function countRecords(): Promise<number> {
    return (await gateway.request('GET', '/v1/usage/records')).body.total
  }

  test('the charge is the cost of the vendor’s usage, complete and streamed', async () => {
    const before = await countRecords()
    server.respondWith(vendor.say({ text: 'one two' }))
    await generateText({ model, prompt: 'Count', maxRetries: 0 })
    await streamText({ model, prompt: 'Count', maxRetries: 0 }).text
    const [prompt_tokens, completion_tokens] = vendor.usage
    const cost_usd = expect.closeTo(priceOf(vendor), 9)
    const expected = { operation, outcome: 'completed', prompt_tokens, completion_tokens, cost_usd }
    expect(priceOf(vendor)).toBeGreaterThan(0)
    expect(await newRecords(2, before)).toMatchObject([expected, expected])
  })

  test('cache reads have their price, and reasoning has no extra price', async () => {
    const before = await countRecords()
    const parts = { cached: 5, reasoning: 3 }
    server.respondWith(vendor.say({ reasoning: 'Hm', text: 'one two', parts }))
    const whole = await generateText({ model, prompt: 'Count', maxRetries: 0 })
    const stream = streamText({ model, prompt: 'Count', maxRetries: 0 })
    await stream.text
    const [prompt_tokens, completion_tokens] = vendor.usage
    const reasoning = vendor.isReasoningCounted ? parts.reasoning : 0
    for (const { inputTokens, outputTokens, inputTokenDetails, outputTokenDetails } of [
      whole.usage,
      await stream.usage,
    ]) {
      expect([inputTokens, inputTokenDetails.cacheReadTokens]).toEqual([prompt_tokens, parts.cached])
      expect(outputTokens).toBe(completion_tokens)
      // The Messages wire does not report reasoning tokens.
      if (operation === 'responses') expect(outputTokenDetails.reasoningTokens).toBe(reasoning)
    }
    const cost_usd = expect.closeTo(priceOf(vendor, parts.cached), 9)
    expect(priceOf(vendor, parts.cached)).toBeLessThan(priceOf(vendor))
    const expected = {
      prompt_tokens,
      cached_tokens: parts.cached,
      completion_tokens,
      reasoning_tokens: reasoning,
      cost_usd,
    }
    expect(await newRecords(2, before)).toMatchObject([expected, expected])
  })

  test('a limit reaches the vendor, and an answer that was too long says so', async () => {
    server.respondWith(vendor.say({ text: 'one two', isTooLong: true }))
    const asked = { model, prompt: 'Count', maxOutputTokens: 77, maxRetries: 0 }
    const whole = await generateText(asked)
    expect(lastRequestText(server)).toMatch(/"(max_?\w*tokens|maxOutputTokens)":77\b/)
    const stream = streamText(asked)
    expect([whole.text, whole.finishReason, await stream.text, await stream.finishReason]).toEqual([
      'one two',
      'length',
      'one two',
      'length',
    ])
  })

  test.skipIf(operation === 'responses')('stop sequences reach the vendor', async () => {
    server.respondWith(vendor.say({ text: 'one two' }))
    const asked = { model, prompt: 'Count', stopSequences: ['three', 'four'], maxRetries: 0 }
    const { text, finishReason } = await generateText(asked)
    expect([text, finishReason]).toEqual(['one two', 'stop'])
    expect(lastRequestText(server)).toMatch(/"stop\w*":\["three","four"\]/i)
  })

  test.each(['cuts the connection', 'says that it failed'])(
    'a vendor that %s in the middle ends the stream with an error, and what was delivered is charged',
    async (how) => {
      const before = await countRecords()
      const hasBegun = Promise.withResolvers<void>()
      server.respondWith(
        how === 'says that it failed'
          ? vendor.breakDown('Hello there', 'out of luck at 10.1.2.3', hasBegun.promise)
          : async (request) => ({ ...(await stalled(vendor, request)), ending: 'cut' }),
      )
      const seen: string[] = []
      let failure: unknown = null
      for await (const part of streamText({ model, prompt: 'Say', maxRetries: 0, onError: () => {} })
        .fullStream) {
        if (part.type === 'text-delta') {
          seen.push(part.text)
          hasBegun.resolve()
        }
        if (part.type === 'error') failure = part.error
      }
      expect([seen.join(''), failure === null]).toEqual(['Hello there', false])
      expect(String(failure) + JSON.stringify(failure)).not.toContain('10.1.2.3')
      const [record] = await newRecords(1, before)
      expect(record).toMatchObject({ operation, outcome: 'failed' })
      expect(record.completion_tokens).toBeGreaterThan(0)
      expect(record.cost_usd).toBeGreaterThan(0)
    },
  )

  test('a client that disconnects pays for what was delivered', async () => {
    const before = await countRecords()
    server.respondWith(vendor.stall('Hello there'))
    const leaving = new AbortController()
    const stream = streamText({
      model,
      prompt: 'Say',
      maxRetries: 0,
      abortSignal: leaving.signal,
      onError: () => {},
    })
    for await (const part of stream.fullStream) if (part.type === 'text-delta') leaving.abort()
    await (
      await server.requestNumber(0)
    ).abandoned
    const [record] = await newRecords(1, before)
    expect(record).toMatchObject({ operation, outcome: 'disconnected' })
    expect(record.cost_usd).toBeGreaterThan(0)
  })
})

async function stalled(vendor: Vendor, request: RecordedRequest): Promise<ScriptedReply> {
  const reply = vendor.stall('Hello there')
  return typeof reply === 'function' ? reply(request) : reply
}
