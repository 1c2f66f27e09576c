import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Cancellation } from '../kernel/cancellation.ts'
import { createOutbound, OutboundFailed, OutboundRefused, type OutboundRequest } from './outbound.ts'

const servers: Server[] = []
const BOUNDS = { bytesMax: 1_000_000, timeoutMs: 5_000 }

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => {
      server.close(resolve)
    })
  }
})

describe('addresses', () => {
  it.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://user:secret@example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'data:text/plain,hello',
    'not an address',
  ])('%s is refused', async (url) => {
    const outbound = createOutbound({ allowedHosts: [] })
    await expect(outbound.fetch({ ...BOUNDS, url })).rejects.toThrow(OutboundRefused)
  })

  it('a name is refused if any of its addresses is private', async () => {
    const outbound = createOutbound({
      allowedHosts: [],
      resolveHost: async () => ['93.184.216.34', '10.0.0.1'],
    })
    await expect(outbound.fetch({ ...BOUNDS, url: 'http://mixed.test/' })).rejects.toThrow(OutboundRefused)
  })

  it('an unknown name fails', async () => {
    const outbound = createOutbound({ allowedHosts: [], resolveHost: async () => [] })
    await expect(outbound.fetch({ ...BOUNDS, url: 'http://nobody.test/' })).rejects.toMatchObject({
      name: 'OutboundFailed',
      reason: 'unreachable',
    })
  })

  it('hosts that the operator allows or that one request trusts may be private', async () => {
    const { port } = await serve((_request, response) => response.end('here'))
    const url = `http://127.0.0.1:${port}/`
    const allowing = createOutbound({ allowedHosts: ['127.0.0.0/8'] })
    expect(await readAll(allowing, { url })).toBe('here')
    const strict = createOutbound({ allowedHosts: [] })
    expect(await readAll(strict, { url, trustedHosts: [`127.0.0.1:${port}`] })).toBe('here')
    await expect(strict.fetch({ ...BOUNDS, url })).rejects.toThrow(OutboundRefused)
  })
})

describe('a name whose address changes', () => {
  it('is connected to the address that was checked', async () => {
    const inner = await serve((_request, response) => response.end('inner'), '127.0.0.2')
    const outer = await serve((_request, response) => response.end('outer'), '127.0.0.1', inner.port)
    const answers = [['127.0.0.1'], ['127.0.0.2']]
    const outbound = createOutbound({
      allowedHosts: ['127.0.0.1/32'],
      resolveHost: async () => answers.shift() ?? [],
    })
    const url = `http://rebinding.test:${outer.port}/`
    expect(await readAll(outbound, { url })).toBe('outer')
    await expect(outbound.fetch({ ...BOUNDS, url })).rejects.toThrow(OutboundRefused)
    expect(inner.requests).toHaveLength(0)
  })

  it('is checked again when it redirects to itself', async () => {
    const inner = await serve((_request, response) => response.end('inner'), '127.0.0.2')
    const outer = await serve(
      (_request, response) => response.writeHead(302, { location: '/again' }).end(),
      '127.0.0.1',
      inner.port,
    )
    const answers = [['127.0.0.1'], ['127.0.0.2']]
    const outbound = createOutbound({
      allowedHosts: ['127.0.0.1/32'],
      resolveHost: async () => answers.shift() ?? [],
    })
    const url = `http://rebinding.test:${outer.port}/`
    await expect(outbound.fetch({ ...BOUNDS, url, redirectsMax: 3 })).rejects.toThrow(OutboundRefused)
    expect(inner.requests).toHaveLength(0)
  })
})

describe('redirects', () => {
  it('are followed without the headers of the first address', async () => {
    const { port, requests } = await serve((request, response) => {
      if (request.url === '/first') response.writeHead(302, { location: '/second' }).end('moved')
      else response.end('arrived')
    })
    const text = await readAll(local(), {
      url: `http://127.0.0.1:${port}/first`,
      headers: { authorization: 'Bearer secret' },
      redirectsMax: 1,
    })
    expect(text).toBe('arrived')
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer secret', undefined])
  })

  it('into a private network are refused', async () => {
    const { port } = await serve((_request, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
    )
    const request = { ...BOUNDS, url: `http://127.0.0.1:${port}/`, redirectsMax: 3 }
    await expect(local().fetch(request)).rejects.toThrow(OutboundRefused)
  })

  it('are limited, and are returned as answers if they are not wanted', async () => {
    const { port, requests } = await serve((_request, response) =>
      response.writeHead(307, { location: '/' }).end(),
    )
    const url = `http://127.0.0.1:${port}/`
    await expect(local().fetch({ ...BOUNDS, url, redirectsMax: 3 })).rejects.toMatchObject({
      reason: 'too_many_redirects',
    })
    expect(requests).toHaveLength(4)
    const answer = await local().fetch({ ...BOUNDS, url })
    expect(answer.status).toBe(307)
    answer.discard()
  })
})

describe('limits', () => {
  it('an answer that announces too much is not read', async () => {
    const { port } = await serve((_request, response) => response.end(Buffer.alloc(2_000)))
    const request = { url: `http://127.0.0.1:${port}/`, bytesMax: 1_999 }
    await expect(readAll(local(), request)).rejects.toMatchObject({ reason: 'too_large' })
    expect(await readAll(local(), { ...request, bytesMax: 2_000 })).toHaveLength(2_000)
  })

  it('an answer of unknown length ends at the limit', async () => {
    const { port, closed } = await serve((_request, response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(1_000)), 1)
      response.on('close', () => clearInterval(timer))
    })
    const request = { url: `http://127.0.0.1:${port}/`, bytesMax: 5_000 }
    await expect(readAll(local(), request)).rejects.toMatchObject({ reason: 'too_large' })
    await closed()
  })

  it.each(['head', 'body'])('a server that hangs in the %s is given up in time', async (part) => {
    const { port, closed } = await serve((_request, response) => {
      if (part === 'body') response.write('a')
    })
    const request = { url: `http://127.0.0.1:${port}/`, timeoutMs: 100 }
    await expect(readAll(local(), request)).rejects.toMatchObject({
      name: 'OutboundFailed',
      reason: 'timeout',
    })
    await closed()
  })

  it('a resolver that hangs is given up in time', async () => {
    const outbound = createOutbound({ allowedHosts: [], resolveHost: () => new Promise(() => {}) })
    const request = { ...BOUNDS, url: 'http://slow.test/', timeoutMs: 50 }
    await expect(outbound.fetch(request)).rejects.toMatchObject({ reason: 'timeout' })
  })

  it.each(['head', 'body'])(
    'a cancelled request closes its connection while it waits for the %s',
    async (part) => {
      const { port, arrived, closed } = await serve((_request, response) => {
        if (part === 'body') response.write('a')
      })
      const cancellation = new Cancellation()
      const reading = readAll(local(), { url: `http://127.0.0.1:${port}/`, cancellation })
      const reason = new Error('nobody wants it')
      void arrived().then(() => cancellation.cancel(reason))
      await expect(reading).rejects.toBe(reason)
      await closed()
    },
  )

  it('an answer that is cut off fails', async () => {
    const { port } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('abc', () => response.destroy())
    })
    await expect(readAll(local(), { url: `http://127.0.0.1:${port}/` })).rejects.toThrow(OutboundFailed)
  })

  it('closing ends running requests', async () => {
    const outbound = local()
    const { port, arrived } = await serve(() => {})
    const reading = readAll(outbound, { url: `http://127.0.0.1:${port}/` })
    void arrived().then(() => outbound.close())
    await expect(reading).rejects.toMatchObject({ reason: 'closed' })
  })
})

it('a body is posted and the status is returned', async () => {
  const { port } = await serve((request, response) => {
    request.pipe(response.writeHead(202, { 'content-type': 'text/plain' }))
  })
  const answer = await local().fetch({
    ...BOUNDS,
    url: `http://127.0.0.1:${port}/hook?x=1`,
    method: 'POST',
    body: 'hello',
    headers: { 'content-type': 'text/plain' },
  })
  expect(answer).toMatchObject({ status: 202, contentType: 'text/plain' })
  expect(await textOf(answer.body)).toBe('hello')
})

function local() {
  return createOutbound({ allowedHosts: ['127.0.0.1'] })
}

async function readAll(
  outbound: ReturnType<typeof createOutbound>,
  request: Partial<OutboundRequest> & { url: string },
): Promise<string> {
  const { body } = await outbound.fetch({ ...BOUNDS, ...request })
  return textOf(body)
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Starts a server that reports when a request arrives and when its connection closes. */
async function serve(listener: RequestListener, host = '127.0.0.1', port = 0) {
  const requests: IncomingMessage[] = []
  const arrival = Promise.withResolvers<void>()
  const ending = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    requests.push(request)
    response.on('close', () => ending.resolve())
    listener(request, response)
    arrival.resolve()
  })
  servers.push(server)
  await new Promise<void>((resolve) => {
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  return { port: address.port, requests, arrived: () => arrival.promise, closed: () => ending.promise }
}
