import net from 'node:net'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

let gateway: ChatGateway

beforeEach(async () => {
  const route = (provider: string, priority: number) => ({ provider, model: 'm', priority })
  gateway = await startChatGateway({
    models: [modelEntry('two-routes', [route('together', 0), route('vllm', 1)])],
    providers: ['together', 'vllm'],
  })
})

afterEach(() => gateway.close())

/** Makes connections to the upstream, and only those, fail with this error code until `stop` is called. */
function refuseConnections(code: string): { tried: () => number; stop: () => void } {
  const port = Number(new URL(gateway.upstream.baseUrl).port)
  const connect = net.connect
  let tried = 0
  const refuse = (options: net.NetConnectOpts, ...rest: []): net.Socket => {
    if (!('port' in options) || options.port !== port) return connect(options, ...rest)
    tried += 1
    const socket = new net.Socket()
    process.nextTick(() => socket.destroy(Object.assign(new Error(`connect ${code}`), { code })))
    return socket
  }
  Object.assign(net, { connect: refuse })
  syncBuiltinESMExports()
  return {
    tried: () => tried,
    stop: () => {
      Object.assign(net, { connect })
      syncBuiltinESMExports()
    },
  }
}

const ask = () => gateway.request('POST', CHAT, { body: chatBody({ model: 'two-routes' }) })
const readiness = () => gateway.request('GET', '/readyz', { key: null })

test.each(['EMFILE', 'EADDRNOTAVAIL', 'ENOMEM'])(
  '%s gives 503 of the gateway, is reported on /readyz, and does not count against a provider',
  async (code) => {
    const refusal = refuseConnections(code)
    try {
      for (let count = 0; count < 30; count += 1) {
        const { status, body, headers } = await ask()
        expect([status, body.error.code, headers.get('retry-after')]).toEqual([
          503,
          'service_unavailable',
          '1',
        ])
        expect(body.error.message).not.toContain('together')
      }
      // No request is retried or sent to the other route, and some are refused without a connection attempt.
      expect(refusal.tried()).toBeLessThan(30)
      const { status, body } = await readiness()
      expect([status, body.checks.resources.status]).toEqual([503, 'failed'])
    } finally {
      refusal.stop()
    }
    await expect.poll(async () => (await ask()).status).toBe(200)
    expect(gateway.upstream.requests.at(-1)?.path).toMatch(/^\/together\//)
    const { body: metrics } = await gateway.request('GET', '/metrics')
    expect(metrics).not.toMatch(/parkway_circuit_breaker_state\{[^}]*\} [12]/)
    expect(metrics).not.toContain('parkway_upstream_fallbacks_total{')
  },
)
