import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createCall } from '../../../tests/upstreams/call-provider.ts'
import { isEngineEndpoint } from '../../gpu/kubernetes/engine-endpoint.ts'
import { isLocalEndpoint } from './build-local-gpu.ts'
import { createEngineConnections } from './engine-connections.ts'

const LOCAL = { driverId: 'local', isEndpoint: isLocalEndpoint, connectTimeoutMs: 5_000 }
const CLUSTER = { endpoint: 'http://{name}.{namespace}.svc:{port}/v1', namespace: 'engines', port: 8_000 }
const NAME = 'parkway-019a8f00-0000-7000-8000-000000000001'

test('connections to engines are closed with the gateway, so a running engine does not keep the gateway alive', async () => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"object":"chat.completion","choices":[]}')
  })
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const engines = createEngineConnections(LOCAL)
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
  expect(() => createEngineConnections(LOCAL).connect(endpoint)).toThrow('no engine at this address')
})

test.each([
  [`http://${NAME}.engines.svc:8000/v1`, true],
  [`http://${NAME}.other.svc:8000/v1`, false],
  [`http://${NAME}.engines.svc:8000/v1/../x`, false],
  [`http://evil.example/?${NAME}`, false],
  [`http://${NAME}@evil.example/v1`, false],
  ['http://127.0.0.1:80/v1', false],
])('the address %s belongs to an engine of the cluster: %s', (endpoint, isOurs) => {
  expect(isEngineEndpoint(CLUSTER, endpoint)).toBe(isOurs)
})
