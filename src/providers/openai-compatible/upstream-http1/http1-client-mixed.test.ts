import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Http1Error } from './http1-error.ts'
import { stage } from './testing/client-stage.ts'
import { plainAnswer, type RawRequest } from './testing/raw-upstream.ts'

type Manner = (request: RawRequest) => void

const chunkedAnswer = (body: string) =>
  `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

/** Correct and faulty ways to answer. Each sends the body of its own request, or a body that belongs to no request. */
const MANNERS: Readonly<Record<string, Manner>> = {
  plain: ({ socket, body }) => socket.write(plainAnswer(body)),
  chunked: ({ socket, body }) => socket.write(chunkedAnswer(body)),
  later: ({ socket, body }) => setTimeout(() => socket.write(plainAnswer(body)), 2),
  inPieces: ({ socket, body }) => {
    const answer = chunkedAnswer(body)
    socket.write(answer.slice(0, 30))
    setImmediate(() => socket.write(answer.slice(30)))
  },
  closing: ({ socket, body }) => socket.end(plainAnswer(body, 'connection: close\r\n')),
  closingUnsaid: ({ socket, body }) => socket.end(plainAnswer(body)),
  untilClose: ({ socket, body }) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${body}`),
  cut: ({ socket, body }) => socket.end(plainAnswer(body).slice(0, -1)),
  reset: ({ socket }) => socket.resetAndDestroy(),
  garbage: ({ socket }) => socket.write('garbage\r\n\r\n'),
  followed: ({ socket, body }) => socket.write(`${plainAnswer(body)}${plainAnswer("nobody's")}`),
  tooShort: ({ socket, body }) =>
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}, and more`),
}

test('whatever an upstream does, every request gets its own answer or an error', async () => {
  const asked = fc.record({
    manner: fc.constantFrom(...Object.keys(MANNERS)),
    isAborted: fc.boolean(),
    turns: fc.nat(3),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(asked, { maxLength: 40 }),
      fc.integer({ min: 1, max: 8 }),
      async (requests, connectionsMax) => {
        const { upstream, client, ask } = await stage(
          (request) => {
            MANNERS[request.body.split(' ')[0] ?? '']?.(request)
          },
          { connectionsMax },
        )
        const outcomes = await Promise.all(
          requests.map(async ({ manner, isAborted, turns }, index) => {
            for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
            const body = `${manner} ${index}`
            const exchange = ask(body)
            if (isAborted && index % 3 === 0)
              setImmediate(() => exchange.controller.abort(new Http1Error('cut', 'enough')))
            return { body, outcome: await exchange.answer.catch((error: unknown) => error) }
          }),
        )
        for (const { body, outcome } of outcomes) {
          if (!(outcome instanceof Http1Error)) expect(outcome).toMatchObject({ status: 200, body })
        }
        client.close()
        await upstream.close()
      },
    ),
    { numRuns: 60 },
  )
})
