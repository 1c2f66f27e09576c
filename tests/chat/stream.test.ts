import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createAccountKey } from '../clients/create-key.ts'
import { chunk, chunksOf, event, heldBack, pacedStream, stream, USAGE } from '../upstreams/openai-server.ts'
import { readEvents, readPieces } from './read-events.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startChatGateway({
    models: [modelEntry('round', [{ provider: 'openai', model: 'round' }], { aliases: ['round-alias'] })],
  })
})

afterAll(async () => {
  await gateway.close()
})

beforeEach(() => {
  gateway.upstream.requests.length = 0
})

const WITH_USAGE = { stream_options: { include_usage: true } }

const open = (members: object = {}) =>
  gateway.fetch('POST', CHAT, { body: chatBody({ model: 'round', stream: true, ...members }) })

async function read(entries: readonly (string | object)[], members: object = {}, options: object = {}) {
  gateway.upstream.respondWith(stream(entries, options))
  return readEvents(await open(members))
}

describe('a stream', () => {
  test('has headers that prevent buffering and caching by proxies', async () => {
    gateway.upstream.respondWith(stream(chunksOf('Hello')))
    const { key } = await createAccountKey(gateway, { name: 'new', credit_usd: 10 })
    const body = chatBody({ model: 'round', stream: true })
    const response = await gateway.fetch('POST', CHAT, { key, body })
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-request-id': expect.stringMatching(/^req_/),
      'x-gateway-provider': 'openai',
      'x-gateway-balance-usd': '10',
      'x-gateway-latency-ms': expect.stringMatching(/^\d+(\.\d+)?$/),
      'x-content-type-options': 'nosniff',
    })
    expect(response.headers.get('x-gateway-cost-usd')).toBeNull()
    await response.text()
  })

  test('has one data line per event, no event lines, and [DONE] last', async () => {
    const { text, isDone, content } = await read(chunksOf('Hel', 'lo'))
    expect(text).toMatch(/^(data: [^\n]+\n\n)+$/)
    expect([isDone, content]).toEqual([true, 'Hello'])
  })

  test('has the requested model id, one id of this wire, and one creation time', async () => {
    const { chunks } = await read(chunksOf('Hel', 'lo'), { model: 'round-alias', ...WITH_USAGE })
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['round-alias']))
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set(['chatcmpl-upstream']))
    expect(new Set(chunks.map(({ created }) => created))).toEqual(new Set([1_750_000_000]))
    expect(new Set(chunks.map(({ object }) => object))).toEqual(new Set(['chat.completion.chunk']))
  })

  test('without include_usage has no chunk with usage', async () => {
    const { chunks } = await read(chunksOf('Hel', 'lo'))
    expect(chunks.filter((one) => 'usage' in one)).toEqual([])
    expect(chunks.every(({ choices }) => choices.length === 1)).toBe(true)
  })

  test('with include_usage has null usage in every chunk and the usage with its cost in the last one', async () => {
    const { chunks } = await read(chunksOf('Hel', 'lo'), WITH_USAGE)
    const last = chunks.at(-1)
    expect(chunks.slice(0, -1).map(({ usage }) => usage)).toEqual([null, null, null, null])
    expect(last).toMatchObject({
      choices: [],
      usage: { ...USAGE, prompt_tokens_details: { cached_tokens: 0 }, cost_usd: 0.000081 },
    })
  })

  test('has a null finish reason until the last choice', async () => {
    const { chunks } = await read(chunksOf('Hel', 'lo'))
    expect(chunks.map(({ choices }) => choices[0].finish_reason)).toEqual([null, null, null, 'stop'])
  })

  test('delivers each chunk as soon as the upstream sends it', async () => {
    const paced = pacedStream()
    gateway.upstream.respondWith(paced.reply)
    const [first, second, last] = ['first', 'second', 'last']
    paced.release(chunk({ delta: { role: 'assistant', content: first } }))
    const reader = readPieces(await open())
    await reader.until(/first/)
    paced.release(chunk({ delta: { content: second } }))
    expect(await reader.until(/second/)).not.toContain(last)
    paced.release(chunk({ delta: { content: last }, finish_reason: 'stop' }))
    await reader.until(/last/)
    paced.finish()
    await reader.until(/\[DONE\]/)
  })
})

describe('if an upstream departs from the wire', () => {
  test.each([
    ['an error', event({ error: { message: 'out of luck', code: 503 } })],
    ['something that is no JSON', 'data: {\n\n'],
  ])('chunks in one packet with %s reach the client', async (_, failure) => {
    const paced = pacedStream()
    gateway.upstream.respondWith(paced.reply)
    paced.release(chunk({ delta: { role: 'assistant', content: 'first' } }))
    const reader = readPieces(await open())
    await reader.until(/first/)
    paced.release(event(chunk({ delta: { content: 'second' } })) + failure)
    expect(await reader.until(/"error"/)).toContain('second')
  })

  test('usage on every chunk is sent once, at the end, and the last report counts', async () => {
    const counted = (completion_tokens: number) => ({ prompt_tokens: 11, completion_tokens, total_tokens: 0 })
    const entries = [
      chunk({ delta: { role: 'assistant', content: 'a' }, usage: counted(1) }),
      chunk({ delta: { content: 'b' }, usage: counted(2) }),
      chunk({ delta: {}, finish_reason: 'stop', usage: counted(3) }),
    ]
    const told = await read(entries, WITH_USAGE)
    expect(told.chunks.map(({ usage }) => usage?.completion_tokens ?? null)).toEqual([null, null, null, 3])
    const untold = await read(entries)
    expect(untold.chunks.filter((one) => 'usage' in one)).toEqual([])
  })

  test('usage on the last choice is sent in its own chunk', async () => {
    const { chunks } = await read(
      [chunk({ delta: { content: 'a' } }), chunk({ finish_reason: 'stop', usage: USAGE })],
      WITH_USAGE,
    )
    expect(chunks.map(({ choices, usage }) => [choices.length, usage === null])).toEqual([
      [1, true],
      [1, true],
      [0, false],
    ])
  })

  test('usage is counted by the gateway if there is none', async () => {
    const { chunks } = await read(
      [
        chunk({ delta: { content: 'Hello' } }),
        chunk({ delta: { content: ' there' }, finish_reason: 'stop' }),
      ],
      WITH_USAGE,
    )
    const { usage } = chunks.at(-1)
    expect(usage.completion_tokens).toBe(2)
    expect(usage.cost_usd).toBe((usage.prompt_tokens * 1 + 2 * 10) / 1e6)
  })

  test('the first delta of each choice has the role', async () => {
    const choice = (index: number, content: string) => ({ index, delta: { content }, finish_reason: null })
    const { chunks } = await read([
      chunk({ choices: [choice(0, 'a')] }),
      chunk({ choices: [choice(1, 'b')] }),
      chunk({ choices: [choice(0, 'c'), choice(1, 'd')] }),
      chunk({ finish_reason: 'stop' }),
    ])
    expect(chunks.flatMap(({ choices }) => choices).map(({ delta }) => delta.role)).toEqual([
      'assistant',
      'assistant',
      undefined,
      undefined,
      undefined,
    ])
  })

  test('a missing id is generated, one for the whole stream', async () => {
    const { chunks } = await read(chunksOf('a', 'b').map(({ id: _id, ...rest }) => rest))
    const [id, ...others] = new Set(chunks.map((one) => one.id))
    expect([id, others]).toEqual([expect.stringMatching(/^chatcmpl-[0-9a-f]{24}$/), []])
  })

  test('a minimal chunk gets the members that clients rely on', async () => {
    const { chunks } = await read([{ choices: [{ delta: { content: 'a' } }] }])
    expect(chunks[0]).toMatchObject({
      object: 'chat.completion.chunk',
      created: expect.any(Number),
      choices: [{ index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null }],
    })
  })

  test('reasoning has one name', async () => {
    const { chunks } = await read([
      chunk({ delta: { role: 'assistant', reasoning: 'hm' } }),
      chunk({ delta: { content: 'yes' }, finish_reason: 'stop' }),
    ])
    expect(chunks[0].choices[0].delta).toEqual({ role: 'assistant', reasoning_content: 'hm', refusal: null })
  })

  test('carriage returns, comments, event lines and odd packets make no difference', async () => {
    const text = `: warming up\r\n\r\nevent: message\r\nid: 7\r\n${chunksOf('Hel', 'lo')
      .map((one) => `: ping\r\n\r\n${event(one, '\r\n')}`)
      .join('')}`
    const pieces = text.match(/[\s\S]{1,37}/g) ?? []
    const { content, isDone, text: sent } = await read(pieces, {}, { newline: '\r\n' })
    expect([content, isDone]).toEqual(['Hello', true])
    expect(sent).toMatch(/^(data: [^\n\r]+\n\n)+$/)
  })

  test('characters beyond ASCII arrive complete', async () => {
    const { content } = await read(chunksOf('h\u00e9\u{1F600}', '\u4F60\u597D'))
    expect(content).toBe('h\u00e9\u{1F600}\u4F60\u597D')
  })

  test('an end without [DONE] after a finish reason is a valid end', async () => {
    const { isDone, content } = await read(chunksOf('Hello'), {}, { ending: 'end' })
    expect([isDone, content]).toEqual([true, 'Hello'])
  })

  test('data after [DONE] is not awaited, and a connection that stays open is closed', async () => {
    gateway.upstream.respondWith(stream([...chunksOf('Hello'), 'data: [DONE]\n\n'], { ending: 'hang' }))
    const { isDone, content } = await readEvents(await open())
    expect([isDone, content]).toEqual([true, 'Hello'])
    const request = await gateway.upstream.requestNumber(0)
    await request.abandoned
  })
})

describe('while the upstream is silent', () => {
  test('comments keep the connection alive, before the first chunk and between chunks', async () => {
    const first = heldBack(stream([]))
    const paced = pacedStream()
    gateway.upstream.respondWith(async (request) => {
      if (typeof first.reply === 'function') await first.reply(request)
      return paced.reply
    })
    // The sockets are real; only the gateway's timers are fake.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    try {
      const opening = open()
      await gateway.upstream.requestNumber(0)
      vi.advanceTimersByTime(15_000)
      const response = await opening
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      const reader = readPieces(response)
      await reader.until(/^: keep-alive\n\n/)
      vi.advanceTimersByTime(15_000)
      await reader.until(/^(: keep-alive\n\n){2}/)
      first.release()
      paced.release(chunk({ delta: { role: 'assistant', content: 'at last' } }))
      await reader.until(/at last/)
      vi.advanceTimersByTime(14_000)
      paced.release(chunk({ delta: { content: ' more' } }))
      expect(await reader.until(/ more/)).not.toMatch(/at last.*keep-alive/s)
      vi.advanceTimersByTime(15_000)
      await reader.until(/ more.*\n\n: keep-alive\n\n$/)
      paced.release(chunk({ finish_reason: 'stop' }))
      paced.finish()
      await reader.until(/\[DONE\]/)
    } finally {
      vi.useRealTimers()
    }
  })
})
