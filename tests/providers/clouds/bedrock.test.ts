import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { readEvents } from '../../chat/read-events.ts'
import { PNG_BASE64, PNG_DATA_URI } from '../../clients/sample-inputs.ts'
import { ROLE } from '../../upstreams/clouds/aws-identity-server.ts'
import { awsChunk } from '../../upstreams/clouds/aws-event-stream.ts'
import { BEDROCK_STREAM } from '../../upstreams/clouds/bedrock-replies.ts'
import { BEDROCK_KEY, claudeEvents } from '../../upstreams/clouds/bedrock-server.ts'
import { CLAUDE, KEYS, message, PROFILE_ARN, SECRET, startBedrockStage } from './bedrock-stage.ts'

const MINUTE_MS = 60_000
const TOOL = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}

const { bedrock, identity, gateway, ask, streamChat, add, reset, close } = await startBedrockStage()
beforeEach(() => reset())
afterAll(close)

const lastBody = () => bedrock.requests.at(-1)?.body

describe('Claude on Bedrock', () => {
  test('answers a chat, and is billed by its usage with what was cached', async () => {
    const answer = await ask('claude')
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      choices: [{ message: { content: 'Hello there' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 20, completion_tokens: 6, prompt_tokens_details: { cached_tokens: 8 } },
    })
    expect(answer.headers.get('x-gateway-provider')).toBe('bedrock')
    const moment = String(bedrock.requests[0]?.headers['x-amz-date'])
    const iso = moment.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z')
    expect(Math.abs(Date.parse(iso) - Date.now())).toBeLessThan(MINUTE_MS)
  })

  test('streams a chat', async () => {
    const streamed = await streamChat('claude', { stream_options: { include_usage: true } })
    expect([streamed.content, streamed.isDone]).toEqual(['Hello there', true])
    expect(streamed.chunks.at(-1).usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 6 })
  })

  test.each([false, true])('calls tools (streamed: %s)', async (isStream) => {
    const calls = isStream
      ? (await streamChat('claude', { tools: [TOOL] })).chunks.flatMap(
          ({ choices }) => choices[0]?.delta.tool_calls ?? [],
        )
      : (await ask('claude', { tools: [TOOL] })).body.choices[0].message.tool_calls
    const text = calls
      .map((call: { function: { arguments?: string } }) => call.function.arguments ?? '')
      .join('')
    expect([calls[0].function.name, JSON.parse(text)]).toEqual(['weather', { city: 'Oslo' }])
    expect(lastBody()).toMatchObject({ tools: [{ name: 'weather' }] })
  })

  test('sees an image', async () => {
    const content = [{ type: 'image_url', image_url: { url: PNG_DATA_URI } }]
    expect((await ask('claude', { messages: [{ role: 'user', content }] })).status).toBe(200)
    expect(JSON.stringify(lastBody())).toContain(PNG_BASE64)
  })

  test('takes Messages natively, with the version and the features in the body', async () => {
    const answer = await gateway.request('POST', '/v1/messages', {
      body: message({ metadata: { user_id: 'u' } }),
      headers: { 'anthropic-beta': 'context-1m-2025-08-07', 'anthropic-version': '2023-06-01' },
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ model: 'claude', usage: { cache_read_input_tokens: 8 } })
    expect(bedrock.requests[0]?.path).toBe(`/model/${encodeURIComponent(CLAUDE)}/invoke`)
    expect(lastBody()).toMatchObject({
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['context-1m-2025-08-07'],
      max_tokens: 64,
    })
    expect(bedrock.requests[0]?.headers['anthropic-beta']).toBeUndefined()
  })

  test('streams Messages natively, also if every byte arrives alone', async () => {
    const bytes = Buffer.concat(claudeEvents().map(awsChunk))
    bedrock.respondWith({ headers: BEDROCK_STREAM, chunks: Array.from(bytes, (byte) => Buffer.of(byte)) })
    const streamed = await readEvents(
      await gateway.fetch('POST', '/v1/messages', { body: message({ stream: true }) }),
    )
    expect(streamed.chunks.map(({ type }) => type)).toEqual(claudeEvents().map((event) => Object(event).type))
    expect(bedrock.requests[0]?.path).toMatch(/\/invoke-with-response-stream$/)
  })

  test('is reached through an inference profile of one’s own', async () => {
    expect((await ask('claude-profile')).status).toBe(200)
    expect(bedrock.requests[0]?.path).toBe(`/model/${encodeURIComponent(PROFILE_ARN)}/invoke`)
  })
})

describe('other models of Bedrock', () => {
  test('chat over the wire of OpenAI, also for a client of Messages', async () => {
    expect((await ask('open')).body.choices[0].message.content).toBe('Hello there')
    expect((await streamChat('open')).content).toBe('Hello there')
    const answer = await gateway.request('POST', '/v1/messages', { body: message({ model: 'open' }) })
    expect(answer.body.content).toEqual([{ type: 'text', text: 'Hello there' }])
    expect(bedrock.requests.map(({ path }) => path)).toEqual(Array(3).fill('/openai/v1/chat/completions'))
  })

  test('embed, and are billed by what Bedrock counted', async () => {
    const embed = (model: string) =>
      gateway.request('POST', '/v1/embeddings', { body: { model, input: ['one', 'three'] } })
    const titan = await embed('titan')
    expect(titan.body).toMatchObject({
      data: [{ embedding: [3, 0.5] }, { embedding: [5, 0.5] }],
      usage: { prompt_tokens: 6 },
    })
    const cohere = await embed('cohere')
    expect(cohere.body).toMatchObject({ data: [{ embedding: [0.5, 0.25] }, {}], usage: { prompt_tokens: 7 } })
    expect(lastBody()).toEqual({
      texts: ['one', 'three'],
      input_type: 'search_document',
      embedding_types: ['float'],
    })
  })
})

describe('Bedrock is signed in to', () => {
  test('with a bearer key', async () => {
    await add('key', { api_key: BEDROCK_KEY })
    expect((await ask('by-key')).status).toBe(200)
    expect(bedrock.requests[0]?.headers['authorization']).toBe(`Bearer ${BEDROCK_KEY}`)
  })

  test('with keys of a session, which are sealed as keys are', async () => {
    bedrock.identities.set('ASIASESSION', { secretAccessKey: SECRET, sessionToken: 'the-token' })
    const document = { ...KEYS, access_key_id: 'ASIASESSION', session_token: 'the-token' }
    const added = await add('session', { api_key: JSON.stringify(document) })
    expect([added.status, JSON.stringify(added.body).includes(SECRET)]).toEqual([201, false])
    expect((await ask('by-session')).status).toBe(200)
  })

  test.each([
    ['a profile', 'profile'],
    ['the web identity of a pod', 'web'],
    ['the credentials of a container', 'pod'],
  ])('with %s, which a reference names', async (_how, name) => {
    const added = await add(name, { secret_ref: `file:${gateway.directory}/${name}.json` })
    expect(added.status).toBe(201)
    expect((await ask(`by-${name}`)).status).toBe(200)
  })

  test('once for all requests at once, and again before the end or when the keys ended early', async () => {
    await add('web', { secret_ref: `file:${gateway.directory}/web.json` })
    const all = await Promise.all(Array.from({ length: 6 }, () => ask('by-web')))
    expect(all.map(({ status }) => status)).toEqual(Array(6).fill(200))
    const issued = identity.requests.length
    expect(issued).toBeLessThanOrEqual(1)
    gateway.pass(57 * MINUTE_MS)
    expect((await ask('by-web')).status).toBe(200)
    await identity.requestNumber(issued)
    gateway.pass(2 * MINUTE_MS)
    for (const key of bedrock.identities.keys()) if (key.startsWith('ASIA')) bedrock.identities.delete(key)
    expect((await ask('by-web')).status).toBe(200)
  })

  test.each([
    ['a profile', { type: 'aws_profile' }],
    ['a container', { type: 'aws_container', uri: 'http://169.254.170.2/x' }],
    ['an instance', { type: 'aws_instance' }],
    ['a web identity', { type: 'aws_web_identity', role_arn: ROLE, token_file: '/etc/passwd' }],
  ])('with %s only if the owner of the machine says so', async (_how, document) => {
    const answer = await add('wrong', { api_key: JSON.stringify(document) })
    expect([answer.status, answer.body.error.param]).toEqual([400, 'credentials.0'])
    expect(identity.requests).toEqual([])
  })
})
