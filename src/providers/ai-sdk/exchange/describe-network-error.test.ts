import { createServer, type AddressInfo, type Socket } from 'node:net'

import { request } from 'undici'
import { expect, test } from 'vitest'

import { describeNetworkError } from './describe-network-error.ts'

const failureOf = (error: unknown) => describeNetworkError('vendor', error)[1].failure

function codedError(code: string): Error {
  return Object.assign(new Error(code), { code })
}

test.each([
  ['ECONNREFUSED', 'connect'],
  ['ENOTFOUND', 'connect'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'connect'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'connect'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['ETIMEDOUT', 'timeout'],
  ['ECONNRESET', 'cut'],
  ['UND_ERR_SOCKET', 'cut'],
])('the network error %s is a failure of kind %s', (code, failure) => {
  expect(failureOf(codedError(code))).toBe(failure)
})

test('an error over all addresses of a host counts as its first', () => {
  expect(failureOf(new AggregateError([codedError('ECONNREFUSED'), codedError('ENETUNREACH')]))).toBe(
    'connect',
  )
})

test('an upstream that does not speak HTTP gives an invalid answer', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.write('220 mail.example.com ESMTP\r\n')
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const error = await request(`http://127.0.0.1:${port}/`).catch((caught: unknown) => caught)
  expect(failureOf(error)).toBe('invalid_answer')
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => {
    server.close(resolve)
  })
})
