import type { ClosableProvider } from '../../providers/create-provider.ts'
import { createOpenAiCompatibleProvider } from '../../providers/openai-compatible/openai-compatible.ts'
import type { Provider } from '../../providers/provider.ts'

interface EngineConnections {
  connect(endpoint: string): Provider
  close(): Promise<void>
}

interface EngineConnectionsOptions {
  readonly driverId: string
  /** Returns whether an address from the database is one that the driver gives to its engines. */
  readonly isEndpoint: (endpoint: string) => boolean
  readonly connectTimeoutMs: number
}

const ENGINES_MAX = 1_000

/** Creates a client for each engine. The connections are closed with the gateway, because engines outlive it. */
export function createEngineConnections(options: EngineConnectionsOptions): EngineConnections {
  const { driverId, isEndpoint, connectTimeoutMs } = options
  const engines = new Map<string, ClosableProvider>()
  return {
    connect: (endpoint) => {
      const known = engines.get(endpoint)
      if (known !== undefined) return known
      if (!isEndpoint(endpoint)) throw new Error(`the driver ${driverId} has no engine at this address`)
      const engine = createOpenAiCompatibleProvider({
        upstream: { id: driverId, defaultBaseUrl: null, whenLeft: 'stops' },
        baseUrl: endpoint,
        credentials: null,
        connectTimeoutMs,
      })
      const [oldest] = engines.keys()
      if (engines.size >= ENGINES_MAX && oldest !== undefined) engines.delete(oldest)
      engines.set(endpoint, engine)
      return engine
    },
    close: async () => {
      for (const engine of engines.values()) await engine.close?.()
    },
  }
}
