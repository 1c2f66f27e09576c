import { createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { CollectedExchange } from './testing/collect-answer.ts'
import { closed, failed, stage, useClient } from './testing/client-stage.ts'
import { plainAnswer, startRawUpstream, type RawRequest } from './testing/raw-upstream.ts'

/** Answers the first request of a connection, and closes it when the second one arrives, without handling that one. */
function leaveOnSecond(how: (socket: Socket) => void) {
  const seen = new WeakSet<Socket>()
  return ({ socket, body }: RawRequest): void => {
    if (seen.has(socket)) return how(socket)
    seen.add(socket)
    socket.write(plainAnswer(body))
  }
}

describe('a reused connection that the upstream has closed', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['by closing it', (socket) => socket.end()],
    ['by cutting it', (socket) => socket.destroy()],
    ['by resetting it', (socket) => socket.resetAndDestroy()],
  ])('%s: has its request sent again on a new one', async (_name, leave) => {
    const { upstream, ask } = await stage(leaveOnSecond(leave))
    await ask('a').answer
    expect((await ask('b').answer).body).toBe('b')
    expect([upstream.sockets.length, upstream.requests.map(({ body }) => body)]).toEqual([2, ['a', 'b', 'b']])
  })

  test('has its request sent on a new one, although other idle ones are available', async () => {
    const { upstream, ask } = await stage(leaveOnSecond((socket) => socket.resetAndDestroy()))
    await Promise.all(['a', 'b', 'c'].map((body) => ask(body).answer))
    expect((await ask('d').answer).body).toBe('d')
    expect(upstream.sockets).toHaveLength(4)
  })

  test('is a failure once a byte of the answer has arrived', async () => {
    const { ask } = await stage(leaveOnSecond((socket) => socket.end('H')))
    await ask('a').answer
    expect(await ask('b').failure()).toEqual(failed('cut', /before its answer/))
  })

  test('is a failure if it is only silent and not closed', async () => {
    const { upstream, client } = await stage(leaveOnSecond(() => {}))
    await new CollectedExchange(client).answer
    const silent = new CollectedExchange(client, { headersTimeout: 100 })
    expect(await silent.failure()).toEqual(failed('timeout', /no answer/))
    expect(upstream.requests).toHaveLength(2)
  })

  test('does not send a cancelled request again', async () => {
    const { upstream, ask } = await stage(leaveOnSecond(() => {}))
    await ask('a').answer
    const unwanted = ask('b')
    await expect.poll(() => upstream.requests.length).toBe(2)
    unwanted.controller.abort(new Error('gone'))
    upstream.sockets[0]?.resetAndDestroy()
    await closed(upstream, 0)
    expect((await ask('c').answer).body).toBe('c')
    expect(upstream.requests.map(({ body }) => body)).toEqual(['a', 'b', 'c'])
  })
})

test('a new connection that is closed is a failure, reported once', async () => {
  const { upstream, ask } = await stage(({ socket }) => socket.destroy())
  expect(await ask().failure()).toEqual(failed('cut', /./))
  expect(upstream.requests).toHaveLength(1)
})

test.each<[string, (socket: Socket) => void]>([
  ['right after each answer', (socket) => socket.end()],
  ['right after each answer, with a reset', (socket) => setImmediate(() => socket.resetAndDestroy())],
  ['a moment after each answer', (socket) => setTimeout(() => socket.destroy(), 1)],
])('an upstream that closes %s fails none of 300 requests', async (_name, leave) => {
  const upstream = await startRawUpstream(
    ({ socket, body }) => socket.write(plainAnswer(body), () => leave(socket)),
    { server: createServer({ allowHalfOpen: false }) },
  )
  onTestFinished(() => upstream.close())
  const client = useClient({ origin: upstream.origin })
  const bodies = await Promise.all(
    Array.from({ length: 6 }, async (_, lane) => {
      const answers: string[] = []
      for (let count = 0; count < 50; count += 1) {
        const asked = new CollectedExchange(client, { body: `${lane}-${count}` })
        answers.push((await asked.answer).body)
      }
      return answers
    }),
  )
  expect(bodies.flat()).toHaveLength(300)
  for (const [lane, answers] of bodies.entries()) expect(answers.at(-1)).toBe(`${lane}-49`)
})
