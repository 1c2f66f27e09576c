import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  chunk,
  chunksOf,
  completion,
  failure,
  json,
  pacedStream,
  stream,
  USAGE,
  type RecordedRequest,
} from '../upstreams/openai-server.ts'
import { readEvents } from './read-events.ts'
import { COMPLETIONS, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [modelEntry('talking', [{ provider: 'openai', model: 'up/talking' }])],
  })
})

afterAll(async () => {
  await gateway.close()
})

beforeEach(() => {
  gateway.upstream.requests.length = 0
})

const complete = (body: object) => gateway.request('POST', COMPLETIONS, { body })
const open = async (body: object) =>
  readEvents(await gateway.fetch('POST', COMPLETIONS, { body: { ...body, stream: true } }))

describe('text completions through chat', () => {
  /** Answers with the prompt of the request, so that each choice can be recognized. */
  const echoing = ({ body }: RecordedRequest) => {
    const { messages } = body as { messages: { content: string }[] }
    return completion({ message: { content: `<${messages.at(-1)?.content}>` } })
  }

  test('a prompt becomes a conversation and the answer a text', async () => {
    gateway.upstream.respondWith(completion({ id: 'chatcmpl-1' }))
    const { status, body } = await complete({
      model: 'talking',
      prompt: 'Once upon',
      temperature: 0.5,
      top_p: 0.9,
      stop: ['\n'],
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: 1,
      logit_bias: { '1': 2 },
      user: 'u',
      best_of: 3,
    })
    expect(status).toBe(200)
    const [request] = gateway.upstream.requests
    expect(request?.path).toBe('/v1/chat/completions')
    expect(request?.body).toEqual({
      model: 'up/talking',
      messages: [
        { role: 'system', content: expect.any(String) },
        { role: 'user', content: 'Once upon' },
      ],
      max_completion_tokens: 16,
      temperature: 0.5,
      top_p: 0.9,
      stop: ['\n'],
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: 1,
      logit_bias: { '1': 2 },
      user: 'u',
    })
    expect(body).toMatchObject({
      id: expect.stringMatching(/^cmpl-/),
      object: 'text_completion',
      model: 'talking',
      choices: [{ text: 'Hello there', index: 0, logprobs: null, finish_reason: 'stop' }],
      usage: { ...USAGE, cost_usd: 0.000081 },
    })
    expect(Object.keys(body.choices[0]).toSorted()).toEqual(['finish_reason', 'index', 'logprobs', 'text'])
  })

  test('max_tokens is passed on', async () => {
    gateway.upstream.respondWith(completion())
    await complete({ model: 'talking', prompt: 'x', max_tokens: 99 })
    expect(gateway.upstream.bodies()[0].max_completion_tokens).toBe(99)
  })

  test('a suffix makes the model fill a gap', async () => {
    gateway.upstream.respondWith(echoing)
    const { body } = await complete({ model: 'talking', prompt: 'def f(', suffix: '): pass' })
    expect(body.choices[0].text).toContain('def f(')
    expect(body.choices[0].text).toContain('): pass')
  })

  test.each([
    ['a list of texts', ['one', 'two'], ['<one>', '<two>']],
    ['a list of tokens', [24912, 2375], ['<hello world>']],
    ['lists of tokens', [[24912], [2375]], ['<hello>', '< world>']],
  ])('%s gives one choice each, in order', async (_name, prompt, texts) => {
    gateway.upstream.respondWith(echoing)
    const { status, body } = await complete({ model: 'talking', prompt })
    expect(status).toBe(200)
    expect(body.choices.map(({ text }: { text: string }) => text)).toEqual(texts)
    expect(body.choices.map(({ index }: { index: number }) => index)).toEqual(texts.map((_, index) => index))
    expect(body.usage).toMatchObject({
      prompt_tokens: 11 * texts.length,
      completion_tokens: 7 * texts.length,
      total_tokens: 18 * texts.length,
    })
  })

  test('n choices of each prompt are numbered consecutively', async () => {
    const choice = (index: number) => ({ index, message: { content: `c${index}` }, finish_reason: 'stop' })
    gateway.upstream.respondWith(completion({ choices: [choice(0), choice(1)] }))
    const { body } = await complete({ model: 'talking', prompt: ['a', 'b'], n: 2 })
    expect(gateway.upstream.bodies()[0].n).toBe(2)
    expect(body.choices.map(({ index, text }: { index: number; text: string }) => [index, text])).toEqual([
      [0, 'c0'],
      [1, 'c1'],
      [2, 'c0'],
      [3, 'c1'],
    ])
  })

  test('echo puts each prompt before its text', async () => {
    gateway.upstream.respondWith(completion())
    const { body } = await complete({ model: 'talking', prompt: ['a', 'b'], echo: true })
    expect(body.choices.map(({ text }: { text: string }) => text)).toEqual(['aHello there', 'bHello there'])
  })

  test('logprobs have the legacy format', async () => {
    const content = [
      {
        token: 'Hel',
        logprob: -0.1,
        top_logprobs: [
          { token: 'Hel', logprob: -0.1 },
          { token: 'Ho', logprob: -2 },
        ],
      },
      { token: 'lo', logprob: -0.2, top_logprobs: [{ token: 'lo', logprob: -0.2 }] },
    ]
    gateway.upstream.respondWith(
      completion({ choices: [{ index: 0, message: { content: 'Hello' }, logprobs: { content } }] }),
    )
    const { body } = await complete({ model: 'talking', prompt: 'x', logprobs: 2 })
    expect(gateway.upstream.bodies()[0]).toMatchObject({ logprobs: true, top_logprobs: 2 })
    expect(body.choices[0].logprobs).toEqual({
      tokens: ['Hel', 'lo'],
      token_logprobs: [-0.1, -0.2],
      top_logprobs: [{ Hel: -0.1, Ho: -2 }, { lo: -0.2 }],
      text_offset: [0, 3],
    })
  })

  test('logprobs of zero request only those of the text', async () => {
    gateway.upstream.respondWith(completion())
    await complete({ model: 'talking', prompt: 'x', logprobs: 0 })
    expect(gateway.upstream.bodies()[0]).toMatchObject({ logprobs: true })
    expect(gateway.upstream.bodies()[0]).not.toHaveProperty('top_logprobs')
  })

  test('usage details are added up too', async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 10,
      total_tokens: 140,
      prompt_tokens_details: { cached_tokens: 90 },
      completion_tokens_details: { reasoning_tokens: 30 },
    }
    gateway.upstream.respondWith(completion({ usage }))
    const { body } = await complete({ model: 'talking', prompt: ['a', 'b'] })
    expect(body.usage).toMatchObject({
      prompt_tokens: 200,
      completion_tokens: 80,
      prompt_tokens_details: { cached_tokens: 180 },
      completion_tokens_details: { reasoning_tokens: 60 },
      cost_usd: (20 * 1 + 180 * 0.1 + 80 * 10) / 1e6,
    })
  })

  test('a stream is translated chunk by chunk', async () => {
    gateway.upstream.respondWith(stream(chunksOf(' upon', ' a time')))
    const events = await open({
      model: 'talking',
      prompt: 'Once',
      echo: true,
      stream_options: { include_usage: true },
    })
    expect([events.content, events.isDone]).toEqual(['Once upon a time', true])
    expect(new Set(events.chunks.map(({ id }) => id)).size).toBe(1)
    expect(events.chunks[0].id).toMatch(/^cmpl-/)
    expect(events.chunks.every(({ object }) => object === 'text_completion')).toBe(true)
    expect(events.chunks.at(-1)).toMatchObject({ choices: [], usage: { ...USAGE, cost_usd: 0.000081 } })
  })

  test('streams of several prompts become one stream with one usage', async () => {
    const each = (completion_tokens: number) => ({ ...USAGE, completion_tokens })
    gateway.upstream.respondWith(
      stream([
        chunk({ delta: { content: 'a' }, usage: each(1) }),
        chunk({ delta: { content: 'b' }, finish_reason: 'stop', usage: each(2) }),
      ]),
    )
    const events = await open({
      model: 'talking',
      prompt: ['one', 'two'],
      stream_options: { include_usage: true },
    })
    const textOf = (wanted: number) =>
      events.chunks
        .flatMap(({ choices }) => choices)
        .filter(({ index }) => index === wanted)
        .map(({ text }) => text)
        .join('')
    expect([textOf(0), textOf(1), events.isDone]).toEqual(['ab', 'ab', true])
    expect(events.chunks.filter(({ usage }) => usage)).toHaveLength(1)
    expect(events.chunks.at(-1).usage).toMatchObject({ prompt_tokens: 22, completion_tokens: 4 })
  })

  test('one failed prompt fails the whole request and cancels the other calls', async () => {
    const paced = pacedStream()
    gateway.upstream.respondWith((request) => {
      const isBad = request.text.includes('"bad"')
      return isBad ? failure(400, { message: 'bad prompt' }) : paced.reply
    })
    const { status, body } = await gateway.request('POST', COMPLETIONS, {
      body: { model: 'talking', prompt: ['good', 'bad'], stream: true },
    })
    expect([status, body.error.message]).toEqual([400, 'bad prompt'])
    await gateway.upstream.requestNumber(1)
    await gateway.upstream.requests.find(({ text }) => text.includes('"good"'))?.abandoned
  })

  test('one broken stream ends the others with one error frame', async () => {
    const paced = pacedStream()
    paced.release(chunk({ delta: { content: 'good' } }))
    gateway.upstream.respondWith((request) =>
      request.text.includes('"bad"')
        ? stream([chunk({ delta: { content: 'bad' } })], { ending: 'cut' })
        : paced.reply,
    )
    const events = await open({ model: 'talking', prompt: ['good', 'bad'] })
    expect(events.isDone).toBe(false)
    expect(events.chunks.at(-1).error.code).toBe('provider_error')
    await gateway.upstream.requests.find(({ text }) => text.includes('"good"'))?.abandoned
  })

  test('an invalid answer gives 502 here too', async () => {
    gateway.upstream.respondWith(json('<html>'))
    expect((await complete({ model: 'talking', prompt: 'x' })).body.error.code).toBe('provider_error')
  })
})
