import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { PNG_BASE64, PNG_DATA_URI } from '../../clients/sample-inputs.ts'
import { readEvents } from '../../chat/read-events.ts'
import { awsEvent, awsException } from '../../upstreams/clouds/aws-event-stream.ts'
import { converseEvents } from '../../upstreams/clouds/bedrock-converse.ts'
import { ACCOUNT, BEDROCK_STREAM, refuse } from '../../upstreams/clouds/bedrock-replies.ts'
import { message, NOVA, PROFILE_ARN, startBedrockStage } from './bedrock-stage.ts'

/** Models of Bedrock that are neither Claude nor of OpenAI. */
const { bedrock, gateway, ask, streamChat, reset, close } = await startBedrockStage()
beforeEach(() => reset())
afterAll(close)

const TOOL = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}
const CALL = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }
// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into bodies and fail loudly on a wrong shape
const lastBody = (): any => bedrock.requests.at(-1)?.body
const lastRecord = async () => (await gateway.request('GET', '/v1/usage/records')).body.data[0]

describe('a model of Converse', () => {
  test('answers a chat with its reasoning, and is billed by its usage with what was cached', async () => {
    const members = { max_tokens: 50, temperature: 1.5, top_p: 0.5, stop: 'END', seed: 1, top_k: 3 }
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ]
    const { status, body } = await ask('nova', { messages, ...members })
    expect(status).toBe(200)
    expect(body.choices[0]).toMatchObject({
      message: { content: 'Hello there', reasoning_content: 'Let me see.' },
      finish_reason: 'stop',
    })
    const usage = { prompt_tokens: 20, completion_tokens: 6, prompt_tokens_details: { cached_tokens: 8 } }
    // 12 tokens at $1, 8 at $0.1 and 6 at $2 for a million.
    expect(body.usage).toMatchObject({ ...usage, cost_usd: 0.0000248 })
    expect(bedrock.requests[0]?.path).toBe(`/model/${encodeURIComponent(NOVA)}/converse`)
    expect(lastBody()).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      system: [{ text: 'Be brief.' }],
      inferenceConfig: { maxTokens: 50, temperature: 1, topP: 0.5, stopSequences: ['END'] },
    })
  })

  test('keeps what is marked in its prompt cache if it has one, and is billed for what it wrote', async () => {
    const marked = (text: string) => ({ type: 'text', text, cache_control: { type: 'ephemeral', ttl: '1h' } })
    const members = {
      messages: [
        { role: 'system', content: [marked('Be brief.')] },
        { role: 'user', content: [marked('A long text.'), { type: 'text', text: 'Hi' }] },
      ],
    }
    const cachePoint = { type: 'default' }
    const { body } = await ask('nova', members)
    expect(lastBody()).toMatchObject({
      system: [{ text: 'Be brief.' }, { cachePoint }],
      messages: [{ role: 'user', content: [{ text: 'A long text.' }, { cachePoint }, { text: 'Hi' }] }],
    })
    // All 20 tokens at $1, because Nova has no other price of writes, and 6 at $2.
    expect(body.usage).toMatchObject({ prompt_tokens: 20, cost_usd: 0.000032 })
    // What leads to no known model may refuse it.
    await ask('profile', members)
    expect(JSON.stringify(lastBody())).not.toContain('cachePoint')
  })

  test('streams a chat, also if every byte arrives alone', async () => {
    const bytes = Buffer.concat(converseEvents())
    bedrock.respondWith(bedrock.answer, {
      headers: BEDROCK_STREAM,
      chunks: Array.from(bytes, (byte) => Buffer.of(byte)),
    })
    for (const _ of [1, 2]) {
      const streamed = await streamChat('nova', { stream_options: { include_usage: true } })
      expect([streamed.content, streamed.isDone]).toEqual(['Hello there', true])
      expect(streamed.chunks.map(({ choices }) => choices[0]?.delta.reasoning_content ?? '').join('')).toBe(
        'Let me see.',
      )
      expect(streamed.chunks.at(-1).usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 6 })
    }
    expect(bedrock.requests[0]?.path).toMatch(/\/converse-stream$/)
    expect(await lastRecord()).toMatchObject({ model: 'nova', prompt_tokens: 20, completion_tokens: 6 })
  })

  test.each([false, true])('calls tools (streamed: %s)', async (isStream) => {
    const members = { tools: [TOOL], tool_choice: 'required' }
    const calls = isStream
      ? (await streamChat('nova', members)).chunks.flatMap(
          ({ choices }) => choices[0]?.delta.tool_calls ?? [],
        )
      : (await ask('nova', members)).body.choices[0].message.tool_calls
    const text = calls.map((call: typeof CALL) => call.function.arguments ?? '').join('')
    expect([calls[0].id, calls[0].function.name, JSON.parse(text)]).toEqual([
      'tooluse_1',
      'weather',
      { city: 'Oslo' },
    ])
    expect(lastBody().toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'weather', inputSchema: { json: TOOL.function.parameters } } }],
      toolChoice: { any: {} },
    })
  })

  test('is told what tools answered, as one turn, even if none may be called now', async () => {
    const messages = [
      { role: 'user', content: 'Where is it warm?' },
      { role: 'assistant', content: null, tool_calls: [CALL, { ...CALL, id: 'call:2' }] },
      { role: 'tool', tool_call_id: 'call_1', content: '18' },
      { role: 'tool', tool_call_id: 'call:2', content: [{ type: 'text', text: '19' }] },
      { role: 'user', content: 'And?' },
    ]
    expect((await ask('nova', { messages, tools: [TOOL], tool_choice: 'none' })).status).toBe(200)
    const input = { city: 'Oslo' }
    expect(lastBody().messages).toEqual([
      { role: 'user', content: [{ text: 'Where is it warm?' }] },
      {
        role: 'assistant',
        content: ['call_1', 'call_2'].map((toolUseId) => ({
          toolUse: { toolUseId, name: 'weather', input },
        })),
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'call_1', content: [{ text: '18' }] } },
          { toolResult: { toolUseId: 'call_2', content: [{ text: '19' }] } },
          { text: 'And?' },
        ],
      },
    ])
  })

  test('sees images and documents, which it does not fetch', async () => {
    const image = { type: 'image_url', image_url: { url: PNG_DATA_URI } }
    const file = { filename: 'secret plan.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjcK' }
    const content = [{ type: 'text', text: 'What is it?' }, image, { type: 'file', file }]
    expect((await ask('nova', { messages: [{ role: 'user', content }] })).status).toBe(200)
    expect(lastBody().messages[0].content).toEqual([
      { text: 'What is it?' },
      { image: { format: 'png', source: { bytes: PNG_BASE64 } } },
      { document: { format: 'pdf', name: 'document-1', source: { bytes: 'JVBERi0xLjcK' } } },
    ])
    const sent = bedrock.requests.length
    const far = [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }]
    const refused = await ask('nova', { messages: [{ role: 'user', content: far }] })
    expect([refused.status, bedrock.requests.length]).toEqual([400, sent])
    expect(refused.body.error.message).toContain('data URI')
  })

  test('answers with the asked structure', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } } }
    const format = { type: 'json_schema', json_schema: { name: 'place', schema } }
    expect((await ask('nova', { response_format: format })).status).toBe(200)
    const jsonSchema = { name: 'place', schema: JSON.stringify(schema) }
    expect(lastBody().outputConfig).toEqual({
      textFormat: { type: 'json_schema', structure: { jsonSchema } },
    })
    expect((await ask('nova', { response_format: { type: 'json_object' } })).status).toBe(200)
    expect(JSON.stringify(lastBody().system)).toContain('JSON object')
  })

  test('serves clients of Messages and Responses, and profiles of one’s own', async () => {
    const answer = await gateway.request('POST', '/v1/messages', { body: message({ model: 'nova' }) })
    expect(answer.body.content.at(-1)).toEqual({ type: 'text', text: 'Hello there' })
    const body = { model: 'nova', input: 'Hi', store: false }
    expect((await gateway.request('POST', '/v1/responses', { body })).body.output.at(-1)).toMatchObject({
      content: [{ text: 'Hello there' }],
    })
    expect((await ask('profile')).status).toBe(200)
    expect(bedrock.requests.at(-1)?.path).toBe(`/model/${encodeURIComponent(PROFILE_ARN)}/converse`)
  })
})

describe('a failure of Converse', () => {
  test('is told without the account', async () => {
    bedrock.respondWith(refuse(400, 'ValidationException', `Too long for ${PROFILE_ARN}`))
    const blamed = await ask('nova')
    expect([blamed.status, blamed.body.error.message]).toEqual([400, expect.stringContaining('Too long')])
    expect(JSON.stringify(blamed.body)).not.toMatch(/123456789012|a1b2c3/)
    bedrock.respondWith(refuse(429, 'ThrottlingException', 'Slow down', { 'retry-after': '20' }))
    const throttled = await ask('nova', { stream: true })
    expect([throttled.status, Number(throttled.headers.get('retry-after'))]).toEqual([429, 20])
  })

  test('no answer is free because it has no usage', async () => {
    bedrock.respondWith({ headers: BEDROCK_STREAM, chunks: converseEvents().slice(0, -1) })
    const { isDone, content } = await streamChat('nova')
    expect([isDone, content]).toEqual([true, 'Hello there'])
    expect((await lastRecord()).completion_tokens).toBeGreaterThan(0)
  })

  test.each([
    ['a call that is broken', [awsEvent('messageStop', { stopReason: 'malformed_tool_use' })], 'end'],
    ['an exception', [awsException('throttlingException', `slow in ${ACCOUNT}`)], 'end'],
    ['no end', [], 'end'],
    ['a cut connection', [], 'cut'],
  ] as const)('in the middle of a stream by %s ends it with one error', async (_what, rest, ending) => {
    const chunks = [...converseEvents().slice(0, 4), ...rest]
    bedrock.respondWith({ headers: BEDROCK_STREAM, chunks, ending })
    const chat = await streamChat('nova')
    expect([chat.isDone, chat.chunks.at(-1).error.type]).toEqual([false, expect.any(String)])
    expect(chat.text).not.toContain(ACCOUNT)
    bedrock.respondWith({ headers: BEDROCK_STREAM, chunks, ending })
    const natively = await readEvents(
      await gateway.fetch('POST', '/v1/messages', { body: message({ model: 'nova', stream: true }) }),
    )
    expect(natively.chunks.at(-1)).toMatchObject({ type: 'error' })
  })
})
