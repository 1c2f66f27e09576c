import { fakeClock } from '../../kernel/testing/fake-clock.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import { expect, test } from 'vitest'
import { createSandboxProvider } from './sandbox.ts'
import { call, chatStream, joinDeltas, userMessage } from './testing/sandbox-client.ts'

const ask = (content: string, rest: object = {}) => ({
  messages: [userMessage(content)],
  stream: true,
  ...rest,
})

test('the role is first, the finish reason last, and neither is in between', async () => {
  const chunks = await chatStream(ask('Hello'))
  const choices = chunks.map((chunk) => chunk.choices[0])
  expect(choices[0]?.delta).toEqual({ role: 'assistant', content: '', refusal: null })
  expect(choices.map((choice) => choice?.finish_reason)).toEqual([
    ...choices.slice(1).map(() => null),
    'stop',
  ])
  expect(choices.at(-1)?.delta).toEqual({})
  expect(chunks.every(({ object }) => object === 'chat.completion.chunk')).toBe(true)
})

test('deltas have about one token each', async () => {
  const chunks = await chatStream(ask('Hello'))
  expect(chunks.length).toBeGreaterThan(20)
})

test('usage is in the last chunk if requested, null before, and absent otherwise', async () => {
  const withUsage = await chatStream(ask('Hello', { stream_options: { include_usage: true } }))
  const last = withUsage.at(-1)
  expect(last?.choices).toEqual([])
  expect(last?.usage?.total_tokens).toBeGreaterThan(0)
  expect(withUsage.slice(0, -1).every(({ usage }) => usage === null)).toBe(true)

  const withoutUsage = await chatStream(ask('Hello'))
  expect(withoutUsage.every((chunk) => chunk.choices.length === 1 && !('usage' in chunk))).toBe(true)
})

test('every choice of n is streamed completely', async () => {
  const chunks = await chatStream(ask('Hello', { n: 3 }))
  const messages = joinDeltas(chunks)
  expect(new Set(messages.map(({ content }) => content)).size).toBe(3)
  expect(chunks.slice(0, 3).map(({ choices }) => choices[0]?.index)).toEqual([0, 1, 2])
})

test('no delta splits a character', async () => {
  const text = 'Family 👩‍👩‍👧‍👦, flag 🇫🇷, accent e\u0301, hand 👋🏽'
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
  const chunks = await chatStream(ask(`[[sandbox:echo ${text}]]`))
  const deltas = chunks.map(({ choices }) => choices[0]?.delta.content ?? '')
  expect(deltas.join('')).toBe(text)
  const graphemes = (part: string) => Array.from(segmenter.segment(part), ({ segment }) => segment)
  expect(deltas.flatMap(graphemes)).toEqual(graphemes(text))
})

test('without a pace many deltas are sent together', async () => {
  const answer = await call(ask('[[sandbox:tokens n=100]]'))
  if (answer.kind !== 'stream') throw new Error('answered at once')
  const sizes: number[] = []
  for await (const batch of answer.batches) sizes.push(batch.length)
  expect(sizes.length).toBeLessThan(10)
})

test.for([
  [{ paceTokensPerSecond: 50 }, '[[sandbox:tokens n=100]]', 1980],
  [{}, '[[sandbox:tokens n=100]][[sandbox:pace tps=10]]', 9900],
  [{ paceTokensPerSecond: 50 }, '[[sandbox:tokens n=100]][[sandbox:pace tps=10]]', 9900],
] as const)('tokens arrive at the pace of %j %s', async ([options, content, expectedMs]) => {
  let nowMs = 0
  const provider = createSandboxProvider({
    ...options,
    clock: fakeClock(() => nowMs),
    sleep: async (durationMs) => {
      nowMs += durationMs
    },
  })
  const chunks = await chatStream(ask(content), { provider })
  expect(chunks).toHaveLength(102)
  expect(nowMs).toBeGreaterThanOrEqual(expectedMs)
  expect(nowMs).toBeLessThanOrEqual(expectedMs * 1.05)
})

test('a cancellation ends a paced stream at once, with its reason', async () => {
  const cancellation = new Cancellation()
  const answer = await call(ask('Hi [[sandbox:pace tps=1]]'), { cancellation })
  if (answer.kind !== 'stream') throw new Error('answered at once')
  const iterator = answer.batches[Symbol.asyncIterator]()
  await iterator.next()
  const waiting = iterator.next()
  const reason = new Error('the client has gone')
  cancellation.cancel(reason)
  await expect(waiting).rejects.toBe(reason)
  expect(answer.isTerminated()).toBe(false)
})

test('a cancellation ends an unpaced stream before its next batch', async () => {
  const cancellation = new Cancellation()
  const answer = await call(ask('[[sandbox:tokens n=5000]]'), { cancellation })
  if (answer.kind !== 'stream') throw new Error('answered at once')
  const iterator = answer.batches[Symbol.asyncIterator]()
  await iterator.next()
  cancellation.cancel(new Error('gone'))
  await expect(iterator.next()).rejects.toThrow('gone')
})

test('a cancelled call is not answered', async () => {
  const cancellation = new Cancellation()
  cancellation.cancel(new Error('too late'))
  await expect(call(ask('Hi'), { cancellation })).rejects.toThrow('too late')
})
