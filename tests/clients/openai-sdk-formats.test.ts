import OpenAI from 'openai'
import { LengthFinishReasonError } from 'openai/error'
import { zodResponseFormat } from 'openai/helpers/zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { collect } from './collect.ts'
import { createRecordingFetch } from './recording-fetch.ts'
import { Film, PNG_DATA_URI } from './sample-inputs.ts'

const MODEL = 'gpt-4o-mini'

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway()
  client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
})

afterAll(async () => {
  await gateway.close()
})

const ask = (content: string) => [{ role: 'user' as const, content }]

describe('structured output with the OpenAI SDK', () => {
  const response_format = zodResponseFormat(Film, 'film')

  test('chat.completions.parse returns the object of the schema', async () => {
    const completion = await client.chat.completions.parse({
      model: MODEL,
      messages: ask('Name a film.'),
      response_format,
    })
    const parsed = completion.choices[0]?.message.parsed
    expect(Film.parse(parsed)).toEqual(parsed)
  })

  test('a streamed answer is parsed too', async () => {
    const completion = await client.chat.completions
      .stream({ model: MODEL, messages: ask('Name a film.'), response_format })
      .finalChatCompletion()
    const parsed = completion.choices[0]?.message.parsed
    expect(Film.parse(parsed)).toEqual(parsed)
  })

  test('an answer cut by its limit is a LengthFinishReasonError, not half an object', async () => {
    const parsing = client.chat.completions.parse({
      model: MODEL,
      messages: ask('Name a film.'),
      response_format,
      max_completion_tokens: 4,
    })
    await expect(parsing).rejects.toBeInstanceOf(LengthFinishReasonError)
  })

  test('json_object answers with an object', async () => {
    const completion = await client.chat.completions.create({
      model: MODEL,
      messages: ask('Answer in JSON.'),
      response_format: { type: 'json_object' },
    })
    expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toBeTypeOf('object')
  })
})

test('an image in a data URI reaches the model', async () => {
  const completion = await client.chat.completions.create({
    model: MODEL,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: PNG_DATA_URI, detail: 'low' } },
        ],
      },
    ],
  })
  expect(completion.choices[0]?.message.content).toContain('3×2 pixels')
})

describe('legacy completions with the OpenAI SDK', () => {
  test('a prompt is continued', async () => {
    const completion = await client.completions.create({ model: MODEL, prompt: 'Once upon', max_tokens: 5 })
    expect(completion).toMatchObject({
      id: expect.stringMatching(/^cmpl-/),
      object: 'text_completion',
      model: MODEL,
      choices: [{ index: 0, text: expect.stringMatching(/./), finish_reason: 'length' }],
      usage: { completion_tokens: 5, cost_usd: expect.any(Number) },
    })
  })

  test('several prompts get one choice each', async () => {
    const completion = await client.completions.create({ model: MODEL, prompt: ['Once', 'Twice'], n: 2 })
    expect(completion.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3])
  })

  test('a stream of text adds up and ends with its usage', async () => {
    const stream = await client.completions.create({
      model: MODEL,
      prompt: 'Once upon',
      max_tokens: 5,
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = await collect(stream)
    expect(chunks.map(({ choices }) => choices[0]?.text ?? '').join('')).not.toBe('')
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason).filter(Boolean)).toEqual(['length'])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 5 } })
  })
})

describe('models with the OpenAI SDK', () => {
  test('are listed, and can be iterated', async () => {
    const models = await collect(client.models.list())
    expect(models).toHaveLength(62)
    expect(models.map(({ id }) => id)).toContain(MODEL)
    expect(models.every(({ object, owned_by }) => object === 'model' && owned_by !== '')).toBe(true)
  })

  test('are read by id, and by an alias that contains a slash', async () => {
    expect(await client.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: 'model' })
    const recording = createRecordingFetch()
    const watched = client.withOptions({ fetch: recording.fetch })
    expect(await watched.models.retrieve('openai/gpt-oss-20b')).toMatchObject({ id: 'gpt-oss-20b' })
    expect(recording.exchanges[0]?.url).toBe(`${gateway.baseUrl}/v1/models/openai%2Fgpt-oss-20b`)
  })
})
