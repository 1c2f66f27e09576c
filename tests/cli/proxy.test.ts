import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { createProxies } from './run-proxy.ts'

const { home } = await startGatewayAndHome(startTestGateway)
const running = createProxies()

afterEach(() => running.end())

const startProxy = (words?: readonly string[], environment?: Record<string, string>) =>
  running.start(home, words, environment)

const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] }
const json = (body: unknown) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

describe('the proxy', () => {
  test('adds the key of the profile, whatever key a program sends, on every route', async () => {
    const { url } = await startProxy()
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none' })
    const answer = await client.chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(answer.choices[0]?.message.content).not.toBe('')
    const headers = { authorization: 'Bearer wrong', 'x-api-key': 'wrong', cookie: 'session=wrong' }
    const account = await fetch(`${url}/v1/tenants/me`, { headers })
    expect([account.status, await account.json()]).toMatchObject([200, { key: {} }])
    expect((await fetch(`${url}/v1/nothing`)).status).toBe(404)
  })

  test('is left in order: requests that run are finished', async () => {
    const { url, child, ended } = await startProxy()
    const stream = await fetch(`${url}/v1/chat/completions`, json({ ...CHAT, stream: true }))
    child.kill('SIGINT')
    expect(await stream.text()).toContain('data: [DONE]')
    expect((await ended)[0]).toBe(0)
  })

  test('says so if its port is in use', async () => {
    const { url } = await startProxy()
    const { code, stderr } = await home.run(['proxy', '--port', new URL(url).port])
    expect([code, stderr]).toEqual([1, expect.stringContaining('in use')])
  })
})

describe('a page of another site', () => {
  const send = async (url: string, headers: Record<string, string>): Promise<number | undefined> => {
    const { hostname, port } = new URL(url)
    const sent = request({ hostname, port, path: '/v1/models', headers })
    sent.end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode
  }

  test('is refused: by its origin, by a name that resolves to the proxy, and by what the browser says', async () => {
    const { url } = await startProxy()
    expect(await send(url, { origin: 'https://evil.example' })).toBe(403)
    expect(await send(url, { origin: 'null' })).toBe(403)
    expect(await send(url, { host: 'evil.example' })).toBe(403)
    expect(await send(url, { 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await send(url, { origin: url, 'sec-fetch-site': 'same-origin' })).toBe(200)
  })

  test('opens no WebSocket', async () => {
    const { url } = await startProxy()
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.write(
      `GET /v1/chat HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    )
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 501 .*upgrade_not_supported/s)
  })
})

describe('what the gateway sends', () => {
  let server: Server
  let handle: (request: IncomingMessage, response: ServerResponse) => void
  let environment: Record<string, string>

  beforeAll(async () => {
    server = createServer((incoming, response) => handle(incoming, response))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    environment = { PARKWAY_BASE_URL: `http://127.0.0.1:${port}/prefix`, PARKWAY_API_KEY: 'pk-key' }
  })
  afterAll(() => void server.close())

  test('arrives byte by byte as it is sent, before the answer ends', async () => {
    const sent = Promise.withResolvers<void>()
    handle = (incoming, response) => {
      expect([incoming.url, incoming.headers.authorization]).toEqual(['/prefix/v1/x?y=1', 'Bearer pk-key'])
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Odd': 'kept', 'Set-Cookie': 'a=b' })
      response.write('data: \r\n\u0000é', () => void sent.promise.then(() => response.end('rest')))
    }
    const { url } = await startProxy([], environment)
    const answer = await fetch(`${url}/v1/x?y=1`)
    expect([answer.headers.get('x-odd'), answer.headers.get('set-cookie')]).toEqual(['kept', null])
    const reader = answer.body?.getReader()
    const first = await reader?.read()
    expect(Buffer.from(first?.value ?? []).toString()).toBe('data: \r\n\u0000é')
    sent.resolve()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('rest')
  })

  test('is not followed to another address', async () => {
    handle = (_, response) => void response.writeHead(307, { location: 'http://evil.example/' }).end()
    const { url } = await startProxy([], environment)
    const answer = await fetch(`${url}/v1/x`, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([307, 'http://evil.example/'])
  })

  test('breaks off where the gateway breaks off', async () => {
    handle = (_, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half', () => response.destroy())
    }
    const { url } = await startProxy([], environment)
    const answer = await fetch(`${url}/v1/x`)
    await expect(answer.text()).rejects.toThrow()
  })

  test('is given up when the client leaves', async () => {
    const left = Promise.withResolvers<void>()
    handle = (_, response) => {
      response.on('close', () => left.resolve())
      response.writeHead(200).write('begin')
    }
    const { url } = await startProxy([], environment)
    const controller = new AbortController()
    const answer = await fetch(`${url}/v1/x`, { signal: controller.signal })
    expect(answer.status).toBe(200)
    controller.abort()
    await left.promise
  })

  test('large bodies pass without being kept, and numbers keep their digits where a model is pinned', async () => {
    handle = (incoming, response) => void incoming.pipe(response)
    const { url } = await startProxy(['--model', 'mine'], environment)
    const body = Buffer.alloc(8 * 1024 * 1024, 'x')
    const big = await fetch(`${url}/v1/files`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'audio/wav' },
    })
    expect((await big.arrayBuffer()).byteLength).toBe(body.length)
    const exact = await fetch(`${url}/v1/responses`, {
      ...json(null),
      body: '{"seed":12345678901234567890,"t":1.0}',
    })
    expect(await exact.text()).toBe('{"seed":12345678901234567890,"t":1.0,"model":"mine"}')
    const tooBig = await fetch(`${url}/v1/responses`, {
      ...json(null),
      body: `"${'x'.repeat(33 * 1024 * 1024)}"`,
    }).catch(() => null)
    expect(tooBig === null || tooBig.status === 413).toBe(true)
  })

  test('is a 502 with an error that clients understand if the gateway is away', async () => {
    const { url } = await startProxy([], { ...environment, PARKWAY_BASE_URL: 'http://127.0.0.1:9' })
    const answer = await fetch(`${url}/v1/models`)
    expect([answer.status, await answer.json()]).toMatchObject([
      502,
      { error: { code: 'gateway_unreachable' } },
    ])
  })
})
