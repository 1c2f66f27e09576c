import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { closed, echo, failed, holdTicks, stage, useClient } from './testing/client-stage.ts'
import { CollectedExchange } from './testing/collect-answer.ts'
import { plainAnswer, type RawRequest } from './testing/raw-upstream.ts'

const enough = new Error('enough')
const MEBIBYTE = 1024 * 1024

describe('a cancelled request', () => {
  test('leaves the queue', async () => {
    const held: RawRequest[] = []
    const { upstream, ask } = await stage((request) => held.push(request), { connectionsMax: 1 })
    const [first, second, third] = [ask('a'), ask('b'), ask('c')]
    second.controller.abort(enough)
    expect(await second.failure()).toBe(enough)
    await expect.poll(() => held.length).toBe(1)
    echo(held[0] as RawRequest)
    await first.answer
    await expect.poll(() => held.length).toBe(2)
    echo(held[1] as RawRequest)
    expect((await third.answer).body).toBe('c')
    expect(upstream.requests.map(({ body }) => body)).toEqual(['a', 'c'])
  })

  test('abandons the connection that is being opened', async () => {
    const { upstream, ask } = await stage(echo)
    const exchange = ask()
    exchange.controller.abort(enough)
    expect(await exchange.failure()).toBe(enough)
    // Connections are accepted in order, so anything sent on the first one has arrived before this one closes.
    await new Promise((resolve) => {
      connect(Number(new URL(upstream.origin).port), '127.0.0.1')
        .end()
        .on('close', resolve)
    })
    expect(upstream.requests).toHaveLength(0)
  })

  test('is not sent on the connection that it was given', async () => {
    const { upstream, ask } = await stage(echo)
    await ask('a').answer
    const exchange = ask('b')
    exchange.controller.abort(enough)
    expect(await exchange.failure()).toBe(enough)
    await closed(upstream, 0)
    expect((await ask('c').answer).body).toBe('c')
    expect(upstream.requests.map(({ body }) => body)).toEqual(['a', 'c'])
  })

  test('closes its connection, before the answer and in the middle of it', async () => {
    const { upstream, ask } = await stage(({ socket, body }) => {
      if (body === 'begin') socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello')
    })
    const silent = ask('silence')
    await expect.poll(() => upstream.requests.length).toBe(1)
    silent.controller.abort(enough)
    expect(await silent.failure()).toBe(enough)
    await closed(upstream, 0)
    const begun = ask('begin')
    await begun.started
    begun.controller.abort(enough)
    expect(await begun.failure()).toBe(enough)
    await closed(upstream, 1)
  })

  test('can be cancelled while a piece of its answer is delivered, and gets nothing more', async () => {
    const { upstream, ask } = await stage(({ socket }) =>
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'),
    )
    const exchange = ask()
    exchange.onPiece = (controller) => controller.abort(enough)
    expect(await exchange.failure()).toBe(enough)
    expect(exchange.bytes).toBe(5)
    await closed(upstream, 0)
  })

  test('a cancelled request that already has its answer does not affect the connection', async () => {
    const { upstream, ask } = await stage(echo)
    const exchange = ask()
    await exchange.answer
    exchange.controller.abort(enough)
    exchange.controller.pause()
    expect((await ask('b').answer).body).toBe('b')
    expect(upstream.sockets).toHaveLength(1)
  })
})

describe('an answer that is read slowly', () => {
  test('pauses the upstream, and is complete in the end', async () => {
    const tick = holdTicks()
    const { upstream, client } = await stage(({ socket }) => {
      socket.write(plainAnswer('x'.repeat(32 * MEBIBYTE)))
    })
    const neighbour = await stage(echo)
    const exchange = new CollectedExchange(client, { bodyTimeout: 200 })
    exchange.onPiece = (controller) => controller.pause()
    await exchange.started
    await expect.poll(() => exchange.controller.paused).toBe(true)
    const socket = upstream.sockets[0]
    await expect.poll(() => socket?.writableLength).toBeGreaterThan(0)
    const beforeBytes = exchange.bytes
    // The body timeout does not apply while the answer is paused.
    tick(500)
    // 50 requests to another upstream run the event loop many times; no byte of the paused answer may arrive.
    for (let asked = 0; asked < 50; asked += 1) await neighbour.ask().answer
    expect(exchange.bytes).toBe(beforeBytes)
    expect(socket?.writableLength).toBeGreaterThan(16 * MEBIBYTE)
    exchange.onPiece = () => {}
    exchange.controller.resume()
    expect((await exchange.answer).body.length).toBe(32 * MEBIBYTE)
  })

  test('leaves a connection that can be reused', async () => {
    const { upstream, ask } = await stage(echo)
    const exchange = ask()
    exchange.onPiece = (controller) => controller.pause()
    await exchange.answer
    expect((await ask('b').answer).body).toBe('b')
    expect(upstream.sockets).toHaveLength(1)
    upstream.sockets[0]?.destroy()
    await setImmediate()
    expect((await ask('c').answer).body).toBe('c')
  })
})

describe('a client that is closed', () => {
  test('ends running, waiting and later requests', async () => {
    const { upstream, client, ask } = await stage(() => {}, { connectionsMax: 1 })
    const exchanges = [ask(), ask()]
    await expect.poll(() => upstream.requests.length).toBe(1)
    client.close()
    for (const exchange of [...exchanges, ask()]) {
      expect(await exchange.failure()).toEqual(failed('cut', /closing/))
    }
    await closed(upstream, 0)
    expect(upstream.sockets).toHaveLength(1)
  })

  test('has no open connections', async () => {
    const { upstream, client, ask } = await stage(echo)
    await Promise.all([ask().answer, ask().answer])
    client.close()
    await Promise.all([closed(upstream, 0), closed(upstream, 1)])
    useClient({ origin: upstream.origin }).close()
  })
})
