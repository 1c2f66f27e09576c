import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { removeDirectory } from '../support/remove-directory.ts'
import { startAnthropicServer } from '../upstreams/anthropic-server.ts'
import { startConnectProxy, startTlsFrontOf, type ConnectProxy } from '../upstreams/connect-proxy.ts'
import { falWire } from '../upstreams/media/fal-wire.ts'
import { startVendorServer } from '../upstreams/media/vendor-server.ts'

/** Names that only the proxies know, so that nothing else reaches what is behind them. */
export const OWN = 'own.test:8000'
export const SECURE = 'localhost:8443'
export const PASSWORD = 'proxy-pass-zyx987'

export interface NetworkStage {
  readonly gateway: ChatGateway
  /** Below it are `log` and `secrets`, from which the gateway reads. */
  readonly directory: string
  /** Asks for `gateway` and `PASSWORD`. */
  readonly proxy: ConnectProxy
  readonly tlsProxy: ConnectProxy
  /** The upstream of the gateway over TLS. */
  readonly tlsPort: number
  close(): Promise<void>
}

/** Starts a gateway whose hosts are behind proxies. */
export async function startNetworkStage(settings: Record<string, string> = {}): Promise<NetworkStage> {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-network-'))
  await mkdir(join(directory, 'secrets'))
  const model = (id: string, provider: string, members = {}) =>
    modelEntry(id, [{ provider, model: 'm', priority: 0 }], members)
  const gateway = await startChatGateway({
    models: [
      model('own-model', 'own'),
      model('claude-model', 'claude'),
      model('own-ear', 'own', {
        category: 'stt',
        context_tokens: undefined,
        capabilities: [],
        price: { unit: 'second', usd: 0.0001 },
      }),
    ],
    settings: {
      PARKWAY_REFERENCE_DIRECTORIES: join(directory, 'secrets'),
      LOG_LEVEL: 'debug',
      ...settings,
    },
    logFile: join(directory, 'log'),
  })
  const anthropic = await startAnthropicServer()
  const fal = await startVendorServer(falWire)
  const portOf = (url: string) => Number(new URL(url).port)
  const tls = await startTlsFrontOf(portOf(gateway.upstream.baseUrl))
  const hosts = {
    [OWN]: portOf(gateway.upstream.baseUrl),
    [SECURE]: tls.port,
    'claude.test:80': portOf(anthropic.baseUrl),
    'fal.test:80': portOf(fal.origin),
  }
  const proxy = await startConnectProxy({ hosts, credentials: `gateway:${PASSWORD}` })
  const tlsProxy = await startConnectProxy({ hosts, isTls: true })
  return {
    gateway,
    directory,
    proxy,
    tlsProxy,
    tlsPort: tls.port,
    close: async () => {
      await gateway.close()
      for (const one of [anthropic, fal, tls, proxy, tlsProxy]) await one.close()
      await removeDirectory(directory)
    },
  }
}
