import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ConnectionGate } from '../connections/connection-gate.ts'
import type { ResponseMessage } from '../message.ts'
import { createFastHttp1, type FastHttp1 } from './fast-http1.ts'

const requestOf = (body: string, path = '/hot') =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

let http: Server
let fastHttp1: FastHttp1
/** Requests to hot paths, which `answer` handles without Node’s server. */
let served: string[]
let answer: (response: ResponseMessage, body: string) => void
let isClosing: boolean
const clients: Socket[] = []
/** The server sockets of the connections. */
let sockets: Socket[]

beforeEach(start)

async function start(): Promise<void> {
  sockets = []
  served = []
  isClosing = false
  answer = (response, body) => {
    const text = `fast ${body}`
    response.writeHead(200, ['content-length', String(Buffer.byteLength(text))]).end(text)
  }
  http = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => response.end(`node ${request.method} ${body}`))
  })
  const [serveByNode] = http.listeners('connection')
  http.removeAllListeners('connection')
  fastHttp1 = createFastHttp1({
    isServed: (url) => url === '/hot',
    serve: (_request, response, body) => {
      served.push(body.toString())
      answer(response, body.toString())
    },
    isClosing: () => isClosing,
    serveByNode: (socket) => void (serveByNode && Reflect.apply(serveByNode, http, [socket])),
    gate: new ConnectionGate({
      connectionsMax: 1_000,
      refusedMax: 100,
      unauthenticatedBytesMax: 64 * 1024 * 1024,
      isTrusted: () => false,
      onRefused: () => {},
    }),
    keepAliveMs: 72_000,
  })
  http.on('connection', (socket) => {
    sockets.push(socket)
    fastHttp1.accept(socket)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
}

afterEach(stop)

function stop(): void {
  for (const client of clients.splice(0)) client.destroy()
  vi.useRealTimers()
  fastHttp1.close()
  http.close()
  http.closeAllConnections()
}

/** Opens a client. Its `heard` collects everything that it receives. */
async function open() {
  const socket = connect((http.address() as AddressInfo).port, '127.0.0.1')
  clients.push(socket)
  await once(socket, 'connect')
  const client = {
    socket,
    heard: '',
    isClosed: false,
    async hears(text: string | RegExp): Promise<void> {
      await expect.poll(() => client.heard, { interval: 2 }).toMatch(text)
    },
  }
  socket.setEncoding('utf8').on('data', (text: string) => {
    client.heard += text
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    client.isClosed = true
  })
  return client
}

const bodiesOf = (heard: string) =>
  [...heard.matchAll(/\r\n\r\n((?:fast|node)[^H]*)/g)].map(([, body]) => body)

describe('a connection', () => {
  test('serves consecutive requests', async () => {
    const client = await open()
    client.socket.write(requestOf('one'))
    await client.hears('fast one')
    client.socket.write(requestOf('two'))
    await client.hears('fast two')
    expect(client.heard).toContain('keep-alive: timeout=72')
    expect(client.heard).toMatch(/date: \w{3}, \d\d \w{3} \d{4} /)
  })

  test('serves pipelined requests in order, each after the previous answer', async () => {
    const client = await open()
    const waiting: (() => void)[] = []
    answer = (response, body) => {
      waiting.push(() => response.writeHead(200, ['content-length', '11']).end(`fast ${body}`))
    }
    client.socket.write(requestOf('one') + requestOf('two') + requestOf('six'))
    for (const expected of [['one'], ['one', 'two'], ['one', 'two', 'six']]) {
      await expect.poll(() => served).toEqual(expected)
      waiting.shift()?.()
    }
    await client.hears('fast six')
    expect(bodiesOf(client.heard)).toEqual(['fast one', 'fast two', 'fast six'])
  })

  test('gives the same answer wherever its bytes are split', async () => {
    const whole = requestOf('h\u00e9llo')
    const bytes = Buffer.from(whole)
    const clients = await Promise.all(Array.from(bytes.subarray(1), () => open()))
    await Promise.all(
      clients.map(async (client, index) => {
        client.socket.write(bytes.subarray(0, index + 1))
        await new Promise(setImmediate)
        client.socket.write(bytes.subarray(index + 1))
        await client.hears(/(fast|node POST) h\u00e9llo/)
      }),
    )
    // Requests whose head arrives complete use the fast path, even if the body is split.
    expect(clients.filter(({ heard }) => heard.includes('fast')).length).toBeGreaterThan(4)
  })

  test('is handed to Node with its first request of another kind, and stays there', async () => {
    const client = await open()
    client.socket.write(requestOf('one'))
    await client.hears('fast one')
    client.socket.write('GET /other HTTP/1.1\r\nhost: x\r\n\r\n')
    await client.hears('node GET')
    client.socket.write(requestOf('two'))
    await client.hears('node POST two')
  })

  test.each([
    ['another path', requestOf('a', '/cold')],
    ['chunks', 'POST /hot HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'],
    ['a large body', requestOf('a'.repeat(300_000))],
  ])('is handed to Node for %s, even after a request that is not answered yet', async (_name, second) => {
    const client = await open()
    const { promise, resolve } = Promise.withResolvers<ResponseMessage>()
    answer = resolve
    client.socket.write(requestOf('one') + second)
    const response = await promise
    response.writeHead(200, ['content-length', '11']).end('fast one')
    await client.hears(/fast one[^]*node POST a/)
  })

  test('streams in chunks to their end', async () => {
    const client = await open()
    answer = (response) => {
      response.writeHead(200, ['content-type', 'text/event-stream'])
      response.write(Buffer.from('data: 1\n\n'))
      response.write(Buffer.alloc(0))
      response.end(Buffer.from('data: 2\n\n'))
    }
    client.socket.write(requestOf('x'))
    await client.hears('0\r\n\r\n')
    expect(client.heard).toContain('transfer-encoding: chunked')
    expect(client.heard).toMatch(/\r\n\r\n9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n$/)
    client.socket.write(requestOf('y'))
    await expect.poll(() => served).toEqual(['x', 'y'])
  })

  test('is closed after an answer that says so', async () => {
    const client = await open()
    answer = (response) => response.writeHead(503, ['content-length', '2', 'connection', 'close']).end('no')
    client.socket.write(requestOf('x') + requestOf('y'))
    await expect.poll(() => client.isClosed).toBe(true)
    expect(client.heard).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/)
    expect(served).toEqual(['x'])
  })

  test('a connection that is being closed starts no other request, however slow its client is', async () => {
    const client = await open()
    client.socket.pause()
    answer = (response) => {
      // More than the kernel buffers for a client that does not read.
      const text = 'x'.repeat(32 * 1024 * 1024)
      response.writeHead(200, ['content-length', String(text.length), 'connection', 'close']).end(text)
    }
    client.socket.write(requestOf('x'))
    await expect.poll(() => served).toEqual(['x'])
    client.socket.write(requestOf('y'))
    await expect.poll(() => sockets[0]?.bytesRead).toBe(requestOf('x').length * 2)
    client.socket.resume()
    await expect.poll(() => client.isClosed).toBe(true)
    expect(served).toEqual(['x'])
  })

  test('reports to its answer that the client has disconnected', async () => {
    const client = await open()
    const { promise, resolve } = Promise.withResolvers<ResponseMessage>()
    answer = resolve
    client.socket.write(requestOf('x'))
    const response = await promise
    const closed = new Promise<void>((done) => void response.on('close', done))
    client.socket.destroy()
    await closed
    expect(response).toMatchObject({ writableFinished: false, destroyed: true })
    expect(() => response.writeHead(200, []).end('late')).not.toThrow()
  })

  test('makes an answer wait for a client that does not read', async () => {
    const client = await open()
    client.socket.pause()
    const { promise, resolve } = Promise.withResolvers<ResponseMessage>()
    answer = resolve
    client.socket.write(requestOf('x'))
    const response = await promise
    response.writeHead(200, [])
    const drained = new Promise<void>((done) => void response.on('drain', done))
    while (response.write(Buffer.alloc(256 * 1024))) await new Promise(setImmediate)
    expect(response.writableNeedDrain).toBe(true)
    client.socket.resume()
    await drained
  })

  test('refuses a header value with a line break', async () => {
    const client = await open()
    const { promise, resolve } = Promise.withResolvers<ResponseMessage>()
    answer = resolve
    client.socket.write(requestOf('x'))
    const response = await promise
    expect(() => response.writeHead(200, ['x-a', 'a\r\nx-b: b'])).toThrow('x-a')
    response.writeHead(500, ['content-length', '2']).end('no')
    await client.hears('HTTP/1.1 500 Internal Server Error')
  })

  test('a connection whose client closes its sending side gets no answer, as with Node’s server', async () => {
    const client = await open()
    answer = () => {}
    client.socket.write(requestOf('x'))
    await expect.poll(() => served).toEqual(['x'])
    client.socket.end()
    await expect.poll(() => client.isClosed).toBe(true)
  })

  test('is closed if it is idle when the gateway stops, and a running answer is finished', async () => {
    const [idle, busy, halfway] = [await open(), await open(), await open()]
    idle.socket.write(requestOf('idle'))
    await idle.hears('fast idle')
    const { promise, resolve } = Promise.withResolvers<ResponseMessage>()
    answer = resolve
    busy.socket.write(requestOf('busy'))
    const response = await promise
    halfway.socket.write(requestOf('half').slice(0, -2))
    await expect.poll(() => sockets[2]?.bytesRead).toBe(requestOf('half').length - 2)
    isClosing = true
    fastHttp1.closeIdle()
    await expect.poll(() => idle.isClosed).toBe(true)
    response.writeHead(200, ['content-length', '12']).end('fast busy')
    await expect.poll(() => busy.isClosed).toBe(true)
    expect(busy.heard).toContain('fast busy')
    halfway.socket.write('lf')
    await halfway.hears('node POST half')
  })
  test('is handed to Node if a request does not arrive complete, and closed if no request follows', async () => {
    stop()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    await start()
    const [halfway, kept] = [await open(), await open()]
    kept.socket.write(requestOf('kept'))
    await kept.hears('fast kept')
    halfway.socket.write(requestOf('half').slice(0, -2))
    await expect.poll(() => sockets[0]?.bytesRead).toBe(requestOf('half').length - 2)
    vi.advanceTimersByTime(11_000)
    halfway.socket.write('lf')
    await halfway.hears('node POST half')
    expect(kept.isClosed).toBe(false)
    vi.advanceTimersByTime(80_000)
    await expect.poll(() => kept.isClosed).toBe(true)
  })
})
