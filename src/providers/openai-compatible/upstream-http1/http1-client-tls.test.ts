import { execFile } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { certificate, privateKey } from './testing/certificate.ts'
import { closed, echo, failed, useClient } from './testing/client-stage.ts'
import { CollectedExchange } from './testing/collect-answer.ts'
import { plainAnswer, startRawUpstream, type RawRequest } from './testing/raw-upstream.ts'
import { removeDirectory } from '../../../../tests/support/remove-directory.ts'

async function startTlsUpstream(answer: (request: RawRequest) => void) {
  const server = createServer({ key: privateKey, cert: certificate, ALPNProtocols: ['h2', 'http/1.1'] })
  const upstream = await startRawUpstream(answer, { server, scheme: 'https' })
  onTestFinished(() => upstream.close())
  return upstream
}

const tlsOf = (socket: unknown) => {
  if (!(socket instanceof TLSSocket)) throw new Error('not encrypted')
  return socket
}

describe('over TLS', () => {
  test('a connection is verified, uses HTTP/1.1 and is reused', async () => {
    const upstream = await startTlsUpstream(echo)
    const client = useClient({ origin: upstream.origin, certificateAuthority: certificate })
    for (const body of ['a', 'größer', 'x'.repeat(200_000)])
      expect((await new CollectedExchange(client, { body }).answer).body).toBe(body)
    expect(upstream.sockets).toHaveLength(1)
    expect(tlsOf(upstream.sockets[0]).alpnProtocol).toBe('http/1.1')
  })

  test('the host name is sent, and the session of the first connection shortens the next', async () => {
    const handshakes: object[] = []
    const upstream = await startTlsUpstream(({ socket }) => {
      const { servername } = Object(socket)
      handshakes.push({ servername, isReused: tlsOf(socket).isSessionReused() })
      socket.write(plainAnswer('x', 'connection: close\r\n'))
    })
    const origin = upstream.origin.replace('127.0.0.1', 'localhost')
    const client = useClient({ origin, certificateAuthority: certificate })
    await new CollectedExchange(client).answer
    await new CollectedExchange(client).answer
    expect(handshakes).toEqual([
      { servername: 'localhost', isReused: false },
      { servername: 'localhost', isReused: true },
    ])
  })

  test('an unknown certificate is not trusted', async () => {
    const upstream = await startTlsUpstream(echo)
    const client = useClient({ origin: upstream.origin })
    expect(await new CollectedExchange(client).failure()).toEqual(failed('connect', /self-signed/))
    expect(upstream.requests).toHaveLength(0)
  })

  test('a certificate of another host is not trusted', async () => {
    const upstream = await startTlsUpstream(echo)
    const origin = upstream.origin.replace('127.0.0.1', '127.0.0.2')
    const client = useClient({ origin, certificateAuthority: certificate })
    expect(await new CollectedExchange(client).failure()).toEqual(failed('connect', /./))
    expect(upstream.requests).toHaveLength(0)
  })

  test('certificates named by the environment are trusted', async () => {
    const upstream = await startTlsUpstream(echo)
    const directory = await mkdtemp(join(tmpdir(), 'parkway-tls-'))
    onTestFinished(() => removeDirectory(directory))
    const file = join(directory, 'authority.pem')
    await writeFile(file, certificate)
    const script = `
      import { createHttp1Client } from ${JSON.stringify(new URL('http1-client.ts', import.meta.url).href)}
      import { CollectedExchange } from ${JSON.stringify(new URL('testing/collect-answer.ts', import.meta.url).href)}
      const options = { origin: process.argv[1], connectionsMax: 1, keepAliveMs: 1000, connectTimeoutMs: 5000 }
      const client = createHttp1Client(options)
      process.stdout.write((await new CollectedExchange(client, { body: 'trusted' }).answer).body)
      client.close()`
    const flags = ['--input-type=module', '-e', script, upstream.origin]
    const environment = { ...process.env, NODE_EXTRA_CA_CERTS: file }
    const { stdout } = await promisify(execFile)(process.execPath, flags, { env: environment })
    expect(stdout).toBe('trusted')
  })

  test('an answer that is read slowly pauses the upstream, and is complete in the end', async () => {
    const bytes = 16 * 1024 * 1024
    const upstream = await startTlsUpstream(({ socket }) => socket.write(plainAnswer('x'.repeat(bytes))))
    const client = useClient({ origin: upstream.origin, certificateAuthority: certificate })
    const exchange = new CollectedExchange(client)
    exchange.onPiece = (controller) => controller.pause()
    await expect.poll(() => exchange.bytes).toBeGreaterThan(0)
    expect(upstream.sockets[0]?.writableLength).toBeGreaterThan(0)
    exchange.onPiece = (controller) => {
      controller.pause()
      setImmediate(() => controller.resume())
    }
    exchange.controller.resume()
    expect((await exchange.answer).body.length).toBe(bytes)
  })

  test('an answer that is cut off is reported as cut', async () => {
    const upstream = await startTlsUpstream(({ socket }) => socket.end(plainAnswer('hello').slice(0, -1)))
    const client = useClient({ origin: upstream.origin, certificateAuthority: certificate })
    expect(await new CollectedExchange(client).failure()).toEqual(failed('cut', /in the middle/))
    await closed(upstream, 0)
  })

  test('a connection that the upstream closes is not reused', async () => {
    const upstream = await startTlsUpstream(echo)
    const client = useClient({ origin: upstream.origin, certificateAuthority: certificate })
    await new CollectedExchange(client).answer
    upstream.sockets[0]?.end()
    await closed(upstream, 0)
    expect((await new CollectedExchange(client, { body: 'b' }).answer).body).toBe('b')
  })
})
