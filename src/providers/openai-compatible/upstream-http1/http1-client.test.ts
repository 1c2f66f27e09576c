import { describe, expect, test } from 'vitest'
import { closed, echo, failed, stage, useClient } from './testing/client-stage.ts'
import { CollectedExchange } from './testing/collect-answer.ts'
import { plainAnswer } from './testing/raw-upstream.ts'

describe('a request', () => {
  test('is sent completely, with its headers and the length of its body', async () => {
    const { upstream, client } = await stage(echo)
    const headers = ['user-agent', 'parkway', 'authorization', 'Bearer sk-1']
    const { answer } = new CollectedExchange(client, { path: '/v1/x?y=1', headers, body: '{"a":1}' })
    expect(await answer).toMatchObject({ status: 200, body: '{"a":1}' })
    const { host } = new URL(upstream.origin)
    expect(upstream.requests[0]?.text).toBe(
      `POST /v1/x?y=1 HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\nuser-agent: parkway\r\n` +
        'authorization: Bearer sk-1\r\ncontent-length: 7\r\n\r\n{"a":1}',
    )
  })

  test.each(['', 'plain', 'é', 'größer als 日本語 🎉', '\ud800', 'x'.repeat(300_000), '日'.repeat(100_000)])(
    'arrives unchanged, whatever its text (%#)',
    async (text) => {
      const { ask } = await stage(echo)
      expect((await ask(text).answer).body).toBe(Buffer.from(text).toString())
    },
  )

  test.each(['sk-\r\nx-injected: 1', 'sk-\n', 'sk-\0', 'sk-é', 'sk-日'])(
    'with a credential that could change its meaning is not sent: %j',
    async (credential) => {
      const { upstream, client } = await stage(echo)
      const exchange = new CollectedExchange(client, { headers: ['authorization', credential] })
      expect(await exchange.failure()).toEqual(new TypeError('the header authorization cannot be sent'))
      expect(upstream.sockets).toHaveLength(0)
    },
  )

  test.each(['', 'v1', '/v 1', '/v1\r\nx: y', '/é'])('with an invalid path is not sent: %j', async (path) => {
    const { client } = await stage(echo)
    expect(await new CollectedExchange(client, { path }).failure()).toBeInstanceOf(TypeError)
  })

  test('can be answered before it is read', async () => {
    const { upstream, ask } = await stage(echo)
    await ask().answer
    upstream.sockets[0]?.pause()
    const large = ask('x'.repeat(20_000_000))
    upstream.sockets[0]?.write(plainAnswer('too large'))
    expect((await large.answer).body).toBe('too large')
    upstream.sockets[0]?.resume()
    // The unsent rest of the large request must not be sent before the next request.
    expect((await ask('next').answer).body).toBe('next')
    expect(upstream.sockets).toHaveLength(2)
  })
})

describe('an answer', () => {
  const LENGTH = 'HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\nhello, world'
  const CHUNKS = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'

  test.each([LENGTH, CHUNKS])(
    'an answer that is cut at any of its bytes is reported as cut (%#)',
    async (text) => {
      let bytes = 0
      const { ask } = await stage(({ socket }) => socket.end(text.slice(0, bytes)))
      for (; bytes < text.length; bytes += 1) {
        expect(await ask().failure()).toEqual(failed('cut', /ended/))
      }
      expect((await ask().answer).status).toBe(200)
    },
  )

  test.each([LENGTH, CHUNKS])(
    'an answer that is reset at any of its bytes is reported as cut (%#)',
    async (text) => {
      let bytes = 0
      const { ask } = await stage(({ socket }) => {
        socket.write(text.slice(0, bytes), () => socket.resetAndDestroy())
      })
      for (; bytes < text.length; bytes += 1) {
        expect(await ask().failure()).toEqual(failed('cut', /ended|ECONNRESET/))
      }
    },
  )

  test('without a length lasts until the connection ends', async () => {
    const { upstream, ask } = await stage(({ socket }) => socket.end('HTTP/1.1 200 OK\r\n\r\nhello'))
    expect((await ask().answer).body).toBe('hello')
    expect((await ask().answer).body).toBe('hello')
    expect(upstream.sockets).toHaveLength(2)
  })

  test.each([
    'SSH-2.0-OpenSSH_9.6\r\n',
    `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(5000)}`,
    `${CHUNKS.slice(0, 48)}zz\r\n`,
  ])('an answer that is invalid closes the connection (%#)', async (text) => {
    const { upstream, ask } = await stage(({ socket }) => socket.write(text))
    expect(await ask().failure()).toEqual(failed('invalid_answer', /./))
    await closed(upstream, 0)
  })

  test('an answer whose reader throws ends without affecting others', async () => {
    const { upstream, ask } = await stage(echo)
    const [unbearable, other] = [ask('a'), ask('b')]
    unbearable.onPiece = () => {
      throw new Error('unbearable')
    }
    expect(await unbearable.failure()).toEqual(new Error('unbearable'))
    expect((await other.answer).body).toBe('b')
    await closed(upstream, 0)
  })

  test('an answer whose reader throws at its end does not affect the next request of the connection', async () => {
    const { upstream, ask } = await stage(echo, { connectionsMax: 1 })
    const [unbearable, next] = [ask('a'), ask('b')]
    unbearable.onFinish = () => {
      throw new Error('unbearable')
    }
    expect(await unbearable.failure()).toEqual(new Error('unbearable'))
    expect((await next.answer).body).toBe('b')
    expect(upstream.sockets).toHaveLength(1)
  })
})

describe('the time', () => {
  test('the time to connect is limited', async () => {
    // The upstream accepts connections, but never answers the TLS handshake.
    const { upstream } = await stage(() => {})
    const origin = upstream.origin.replace('http:', 'https:')
    const client = useClient({ origin, connectTimeoutMs: 100 })
    expect(await new CollectedExchange(client).failure()).toEqual(failed('connect', /within 100 ms/))
    await closed(upstream, 0)
  })

  test('the time to the head is limited, and interim responses do not extend it', async () => {
    const { upstream, client } = await stage(({ socket }) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    const startedMs = performance.now()
    const exchange = new CollectedExchange(client, { headersTimeout: 200, bodyTimeout: 50 })
    expect(await exchange.failure()).toEqual(failed('timeout', /no answer within 200 ms/))
    expect(performance.now() - startedMs).toBeGreaterThan(195)
    await closed(upstream, 0)
  })

  test('between two pieces is limited, and each piece extends it', async () => {
    const { upstream, client } = await stage(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 20\r\n\r\n')
      let pieces = 0
      const timer = setInterval(() => {
        if (pieces < 5) socket.write('x')
        pieces += 1
      }, 100)
      socket.on('close', () => clearInterval(timer))
    })
    const exchange = new CollectedExchange(client, { bodyTimeout: 300 })
    expect(await exchange.failure()).toEqual(failed('timeout', /silent for 300 ms/))
    expect(exchange.bytes).toBe(5)
    await closed(upstream, 0)
  })

  test('the time to get a free connection is limited', async () => {
    const { client } = await stage(() => {}, { connectionsMax: 1 })
    const first = new CollectedExchange(client)
    const second = new CollectedExchange(client, { headersTimeout: 100 })
    expect(await second.failure()).toEqual(failed('timeout', /no connection was free for 100 ms/))
    first.controller.abort(new Error('enough'))
  })
})
