import { systemClock } from '../../src/kernel/clock.ts'
import { createCredentialRing } from '../../src/providers/connection/credential-ring.ts'
import { createOpenAiCompatibleProvider } from '../../src/providers/openai-compatible/openai-compatible.ts'
import { wireOf } from '../../src/providers/create-provider.ts'
import { vendorOf } from '../../src/providers/vendors.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { startOpenAiServer, type OpenAiServer } from './openai-server.ts'

export interface WireUpstream {
  server: OpenAiServer
  provider: Provider
  close(): Promise<void>
}

/** Starts a local server for one of the built-in upstreams of OpenAI's wire. */
export async function startWireUpstream(id: string, keys = ['sk-1']): Promise<WireUpstream> {
  const vendor = vendorOf(id)
  const upstream = vendor === undefined ? null : wireOf(vendor)
  if (upstream === null) throw new Error(`no upstream is called ${id}`)
  const server = await startOpenAiServer()
  const provider = createOpenAiCompatibleProvider({
    upstream,
    baseUrl: server.apiUrl,
    credentials: createCredentialRing(keys, { provider: id, clock: systemClock }),
    connectTimeoutMs: 5_000,
  })
  return {
    server,
    provider,
    async close() {
      await provider.close()
      await server.close()
    },
  }
}
