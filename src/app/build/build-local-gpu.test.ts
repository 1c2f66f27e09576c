import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createCall } from '../../../tests/upstreams/call-provider.ts'
import { createEngineConnections } from './build-local-gpu.ts'

test('connections to engines are closed with the gateway, so a running engine does not keep the gateway alive', async () => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"object":"chat.completion","choices":[]}')
  })
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const engines = createEngineConnections({ connectTimeoutMs: 5_000 })
  const endpoint = `http://127.0.0.1:${port}/v1`
  expect(engines.connect(endpoint)).toBe(engines.connect(endpoint))
  await engines.connect(endpoint).chat?.(createCall({}))
  const count = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, open) => (error ? reject(error) : resolve(open))),
    )
  expect(await count()).toBe(1)
  await engines.close()
  await expect.poll(count).toBe(0)
  server.close()
})

test.each([
  'http://10.0.0.1:80/v1',
  'http://127.0.0.1:80@evil.example/v1',
  'sandbox:',
  'http://127.0.0.1:80/v1/../x',
])('nothing is sent to %s', (endpoint) => {
  expect(() => createEngineConnections({ connectTimeoutMs: 1 }).connect(endpoint)).toThrow('127.0.0.1')
})
