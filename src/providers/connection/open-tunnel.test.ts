import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openTunnel } from './open-tunnel.ts'
import { isLinkLocal, lookUpBeyondLink } from './refuse-link-local.ts'

async function startProxy(answer: (socket: Socket, head: string) => void): Promise<string> {
  const sockets: Socket[] = []
  const server: Server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes) => answer(socket, bytes.toString('latin1')))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

const open = (url: string, credentials: { username?: string; password?: string } = {}) =>
  new Promise<Socket>((resolve, reject) => {
    const options = { proxy: { url, ...credentials }, secureContext: undefined }
    const target = { host: '2001:db8::1', port: 443 }
    const giveUp = openTunnel(target, options, (error, socket) => {
      if (socket === null) reject(error)
      else resolve(socket)
    })
    onTestFinished(giveUp)
  })

test('the proxy is asked for the host and port, and gets its credentials', async () => {
  let head = ''
  const url = await startProxy((socket, text) => {
    head = text
    socket.write('HTTP/1.1 200 Fine\r\nvia: x\r\n\r\n')
  })
  const socket = await open(url, { username: 'me', password: 'pass:word' })
  socket.destroy()
  expect(head.split('\r\n')).toEqual([
    'CONNECT [2001:db8::1]:443 HTTP/1.1',
    'host: [2001:db8::1]:443',
    `proxy-authorization: Basic ${Buffer.from('me:pass:word').toString('base64')}`,
    '',
    '',
  ])
})

test.each([
  ['refuses', 'HTTP/1.1 407 No\r\n\r\n', 'its proxy answered 407'],
  ['speaks no HTTP', 'SSH-2.0-x\r\n\r\n', 'its proxy did not answer in HTTP'],
  [
    'writes for the upstream',
    'HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n',
    'its proxy sent more than an answer',
  ],
  ['never ends its head', 'x'.repeat(20_000), 'its proxy did not answer in HTTP'],
])('a proxy that %s is no way to the host', async (_, answer, message) => {
  const url = await startProxy((socket) => socket.write(answer))
  await expect(open(url)).rejects.toThrow(message)
})

test('a proxy that closes the connection, and one that is not there, are told without their address', async () => {
  const url = await startProxy((socket) => socket.destroy())
  await expect(open(url)).rejects.toThrow('its proxy closed the connection')
  await expect(open('http://127.0.0.1:9')).rejects.toThrow(/^there is no connection to its proxy$/)
})

test('addresses of the link are no host of a provider, whatever name leads to them', async () => {
  for (const address of ['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1', 'fd00:ec2::254'])
    expect([address, isLinkLocal(address)]).toEqual([address, true])
  for (const address of ['127.0.0.1', '10.0.0.7', '8.8.8.8', '::1', 'fd00::1', 'localhost'])
    expect([address, isLinkLocal(address)]).toEqual([address, false])
  const lookUp = (name: string, options: object) =>
    new Promise((resolve) => {
      lookUpBeyondLink(name, options, (error, found) => resolve(error?.message ?? found))
    })
  expect(await lookUp('169.254.169.254', { all: true })).toMatch(/link/)
  expect(await lookUp('127.0.0.1', { all: true })).toEqual([{ address: '127.0.0.1', family: 4 }])
  expect(await lookUp('127.0.0.1', {})).toBe('127.0.0.1')
})
