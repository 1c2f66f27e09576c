import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { Agent, request, type Dispatcher } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import {
  plainAnswer,
  startRawUpstream,
  type RawRequest,
} from '../openai-compatible/upstream-http1/testing/raw-upstream.ts'
import { createResendingPool } from './resending-pool.ts'

async function start(answer: (request: RawRequest) => void) {
  const upstream = await startRawUpstream(answer)
  onTestFinished(() => upstream.close())
  const dispatcher = new Agent({
    connections: 1,
    pipelining: 1,
    factory: (origin, options) => createResendingPool(origin, options),
  })
  onTestFinished(() => dispatcher.destroy())
  const ask = async (body: string | Readable, dispatchers: Dispatcher = dispatcher) => {
    const headers = typeof body === 'string' ? {} : { 'content-length': '1' }
    const answered = await request(`${upstream.origin}/v1`, {
      method: 'POST',
      body,
      headers,
      dispatcher: dispatchers,
    })
    return answered.body.text()
  }
  return { upstream, ask }
}

/** Answers the first request of a connection, and closes it when the second one arrives. */
function leaveOnSecond(how: (socket: Socket) => void) {
  const seen = new WeakSet<Socket>()
  return ({ socket, body }: RawRequest): void => {
    if (seen.has(socket)) return how(socket)
    seen.add(socket)
    socket.write(plainAnswer(body))
  }
}

test.each<[string, (socket: Socket) => void]>([
  ['closed', (socket) => socket.end()],
  ['reset', (socket) => socket.resetAndDestroy()],
])('a request on a used connection that was %s is sent again on a new one', async (_name, leave) => {
  const { upstream, ask } = await start(leaveOnSecond(leave))
  expect(await ask('a')).toBe('a')
  expect(await ask('b')).toBe('b')
  expect([upstream.sockets.length, upstream.requests.map(({ body }) => body)]).toEqual([2, ['a', 'b', 'b']])
})

test('a request on a new connection that is closed is not sent again', async () => {
  const { upstream, ask } = await start(({ socket }) => socket.destroy())
  await expect(ask('a')).rejects.toThrow()
  expect(upstream.requests).toHaveLength(1)
})

test('a request whose answer has begun is not sent again', async () => {
  const { upstream, ask } = await start(leaveOnSecond((socket) => socket.end('HTTP/1.1 200 OK\r\n')))
  await ask('a')
  await expect(ask('b')).rejects.toThrow()
  expect(upstream.requests).toHaveLength(2)
})

test('a body that can be read only once is not sent again', async () => {
  const { upstream, ask } = await start(leaveOnSecond((socket) => socket.destroy()))
  await ask('a')
  await expect(ask(Readable.from(['b']))).rejects.toThrow()
  expect(upstream.requests).toHaveLength(2)
})

test('an upstream that closes right after each answer fails none of 200 requests', async () => {
  const { ask } = await start(({ socket, body }) => socket.write(plainAnswer(body), () => socket.end()))
  const lanes = Array.from({ length: 4 }, async (_, lane) => {
    for (let count = 0; count < 50; count += 1) expect(await ask(`${lane}-${count}`)).toBe(`${lane}-${count}`)
  })
  await Promise.all(lanes)
})
