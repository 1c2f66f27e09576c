import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const CHAT = '/v1/chat/completions'
const BODY = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] })
const CONNECTIONS_MAX = 20
/** Enough for two connections that Node's HTTP server reads. */
const UNAUTHENTICATED_BYTES_MAX = 180 * 1024

let gateway: TestGateway
const sockets: Socket[] = []

beforeEach(async () => {
  gateway = await startTestGateway({
    settings: {
      PARKWAY_CONNECTIONS_MAX: String(CONNECTIONS_MAX),
      // Only the fast path checks the start of a request before Node's server gets the connection.
      PARKWAY_FAST_HTTP: 'true',
      PARKWAY_UNAUTHENTICATED_BYTES_MAX: String(UNAUTHENTICATED_BYTES_MAX),
    },
  })
})

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await gateway.close()
})

interface Client {
  readonly socket: Socket
  heard: string
  isClosed: boolean
}

async function open(text = ''): Promise<Client> {
  const { hostname, port } = new URL(gateway.baseUrl)
  const socket = connect({ host: hostname, port: Number(port) })
  sockets.push(socket)
  const client: Client = { socket, heard: '', isClosed: false }
  socket.setEncoding('utf8').on('data', (heard: string) => {
    client.heard += heard
  })
  socket
    .on('error', () => {})
    .on('close', () => {
      client.isClosed = true
    })
  await new Promise((resolve) => void socket.on('connect', resolve))
  if (text !== '') socket.write(text)
  return client
}

const requestOf = (key: string, body = BODY, length = body.length) =>
  `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`

const expectRefused = async (client: Client): Promise<void> => {
  await expect.poll(() => client.isClosed).toBe(true)
  expect(client.heard).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/)
  expect(client.heard).toMatch(/\r\nconnection: close\r\n/)
  expect(client.heard).toMatch(/\r\nretry-after: 1\r\n/)
  expect(client.heard).toContain('"code":"service_unavailable"')
}

const expectAnswered = (client: Client, status: number) =>
  expect.poll(() => client.heard).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))

describe('more connections than a process accepts', () => {
  test('get 503 and are closed, and new ones are accepted when others have closed', async () => {
    const clients = await Promise.all(
      Array.from({ length: CONNECTIONS_MAX }, () => open(requestOf(gateway.key))),
    )
    // Connections are accepted in no order, so these must have been before the next ones are made.
    for (const client of clients) await expect.poll(() => client.heard).toMatch(/^HTTP/)
    await expectRefused(await open())
    await expectRefused(await open(requestOf(gateway.key)))
    const [first] = clients
    first?.socket.destroy()
    await expect
      .poll(async () => {
        const client = await open(requestOf(gateway.key))
        await expect.poll(() => client.heard).toMatch(/^HTTP/)
        client.socket.destroy()
        return client.heard.slice(0, 12)
      })
      .toBe('HTTP/1.1 200')
  })
})

describe('bytes of requests without a known key', () => {
  const fill = async (): Promise<Client[]> => {
    const half = 'GET /v1/models HTTP/1.1\r\nhost: x\r\n'
    return [await open(half), await open(half)]
  }

  test('are limited over all connections: further connections get 503 and are closed', async () => {
    const half = 'GET /v1/models HTTP/1.1\r\nhost: x\r\n'
    const clients = await Promise.all(Array.from({ length: 6 }, () => open(half)))
    await expect.poll(() => clients.filter(({ isClosed }) => isClosed).length).toBe(4)
    for (const client of clients.filter(({ isClosed }) => isClosed)) await expectRefused(client)
  })

  test('are limited on the fast path too', async () => {
    const part = 'x'.repeat(60 * 1024)
    const clients = await Promise.all(
      Array.from({ length: 5 }, () => open(requestOf('pk-dev-nobody', part, 200 * 1024))),
    )
    await expect.poll(() => clients.filter(({ isClosed }) => isClosed).length).toBeGreaterThan(2)
    for (const client of clients.filter(({ isClosed }) => isClosed)) await expectRefused(client)
  })

  test('do not block requests with a known key, nor probes', async () => {
    expect((await gateway.request('POST', CHAT, { body: BODY })).status).toBe(200)
    await fill()
    await expect
      .poll(async () => {
        const client = await open('GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n')
        await expect.poll(() => client.heard).toMatch(/^HTTP/)
        return client.heard
      })
      .toContain('503')
    const [known, probe, hot] = [
      await open(`GET /v1/models HTTP/1.1\r\nhost: x\r\nAuthorization: Bearer ${gateway.key}\r\n\r\n`),
      await open('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'),
      await open(requestOf(gateway.key)),
    ]
    for (const client of [known, probe, hot]) await expectAnswered(client, 200)
  })

  test('no longer count once the key is known or the connection is closed', async () => {
    for (let round = 0; round < 3; round += 1) {
      const clients = await Promise.all(
        Array.from({ length: 2 }, () =>
          open(`GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\n\r\n`),
        ),
      )
      for (const client of clients) await expectAnswered(client, 200)
    }
    const [one, two] = await fill()
    one?.socket.destroy()
    two?.socket.destroy()
    await expect
      .poll(async () => {
        const client = await open('GET /v1/nothing HTTP/1.1\r\nhost: x\r\n\r\n')
        await expect.poll(() => client.heard).toMatch(/^HTTP/)
        client.socket.destroy()
        return client.heard
      })
      .toMatch(/^HTTP\/1\.1 404/)
  })
})
