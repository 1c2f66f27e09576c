import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createCall } from '../../../tests/upstreams/call-provider.ts'
import { isEngineEndpoint } from '../../gpu/kubernetes/engine-endpoint.ts'
import { isLocalEndpoint } from './build-local-gpu.ts'
import { createEngineConnections } from './engine-connections.ts'

const LOCAL = { driverId: 'local', isEndpoint: isLocalEndpoint, connectTimeoutMs: 5_000 }
const CLUSTER = { endpoint: 'http://{name}.{namespace}.svc:{port}/v1', namespace: 'engines', port: 8_000 }
const NAME = 'parkway-019a8f00-0000-7000-8000-000000000001'

/** An engine that keeps connections open, and answers requests when the test says so. */
async function startEngine({ isHeld = false } = {}) {
  const held: (() => void)[] = []
  const server = createServer((_, response) => {
    const answer = () => {
      response.setHeader('content-type', 'application/json')
      response.end('{"object":"chat.completion","choices":[]}')
    }
    if (isHeld) held.push(answer)
    else answer()
  })
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}/v1`,
    held,
    countConnections: () =>
      new Promise<number>((resolve, reject) =>
        server.getConnections((error, open) => (error ? reject(error) : resolve(open))),
      ),
  }
}

test('connections to engines are closed with the gateway, so a running engine does not keep the gateway alive', async () => {
  const { endpoint, countConnections } = await startEngine()
  const engines = createEngineConnections(LOCAL)
  expect(engines.connect(endpoint)).toBe(engines.connect(endpoint))
  await engines.connect(endpoint).chat?.(createCall({}))
  expect(await countConnections()).toBe(1)
  await engines.close()
  await expect.poll(countConnections).toBe(0)
})

test('a client that makes room for another one ends its request, and is closed with the gateway', async () => {
  const [one, other, third] = [
    await startEngine({ isHeld: true }),
    await startEngine({ isHeld: true }),
    await startEngine(),
  ]
  const engines = createEngineConnections({ ...LOCAL, enginesMax: 1 })
  const first = engines.connect(one.endpoint)
  const answer = first.chat?.(createCall({}))
  await expect.poll(() => one.held.length).toBe(1)
  const cut = engines.connect(other.endpoint).chat?.(createCall({}))
  cut?.catch(() => {})
  await expect.poll(() => other.held.length).toBe(1)
  engines.connect(third.endpoint)
  expect(engines.connect(one.endpoint)).not.toBe(first)
  one.held[0]?.()
  expect(await answer).toMatchObject({ kind: 'complete' })
  expect(await other.countConnections()).toBe(1)
  await engines.close()
  await expect(cut).rejects.toThrow()
  await expect.poll(other.countConnections).toBe(0)
})

test('a removed client is closed as soon as it is idle', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const { endpoint, held } = await startEngine({ isHeld: true })
  const engines = createEngineConnections({ ...LOCAL, enginesMax: 1 })
  const [busy, idle] = [engines.connect(endpoint), engines.connect('http://127.0.0.1:9/v1')]
  const answer = busy.chat?.(createCall({}))
  await expect.poll(() => held.length).toBe(1)
  engines.connect('http://127.0.0.1:10/v1')
  vi.advanceTimersByTime(1_000)
  await expect(idle.chat?.(createCall({}))).rejects.toThrow('closing')
  held[0]?.()
  expect(await answer).toMatchObject({ kind: 'complete' })
  await engines.close()
})

test('an idle client makes room before one that is in use', async () => {
  const [busy, idle] = [await startEngine({ isHeld: true }), await startEngine()]
  const engines = createEngineConnections({ ...LOCAL, enginesMax: 2 })
  const kept = engines.connect(busy.endpoint)
  const answer = kept.chat?.(createCall({}))
  await expect.poll(() => busy.held.length).toBe(1)
  engines.connect(idle.endpoint)
  engines.connect('http://127.0.0.1:9/v1')
  expect(engines.connect(busy.endpoint)).toBe(kept)
  busy.held[0]?.()
  await answer
  await engines.close()
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
