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
  readonly enginesMax?: number
}

type EngineClient = ReturnType<typeof createOpenAiCompatibleProvider>

const ENGINES_MAX = 1_000
const CHECK_MS = 1_000

/** Creates a client for each engine. The connections are closed with the gateway, because engines outlive it. */
export function createEngineConnections(options: EngineConnectionsOptions): EngineConnections {
  const { driverId, isEndpoint, connectTimeoutMs, enginesMax = ENGINES_MAX } = options
  const engines = new Map<string, EngineClient>()
  /** Removed clients that are not closed yet. */
  const retired = new Set<EngineClient>()
  let timer: NodeJS.Timeout | null = null

  const closeIdle = (): void => {
    for (const engine of retired) if (engine.isIdle() && retired.delete(engine)) void engine.close()
    if (retired.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
  /** Removes an idle client, or the oldest one if all are in use. Closes it later, because a request may be about to use it. */
  const removeOne = (): void => {
    const [oldest] = engines
    const removed = engines.entries().find(([, engine]) => engine.isIdle()) ?? oldest
    if (removed === undefined) return
    engines.delete(removed[0])
    retired.add(removed[1])
    timer ??= setInterval(closeIdle, CHECK_MS).unref()
  }

  return {
    connect: (endpoint) => {
      const known = engines.get(endpoint)
      if (known !== undefined) return known
      if (!isEndpoint(endpoint)) throw new Error(`the driver ${driverId} has no engine at this address`)
      if (engines.size >= enginesMax) removeOne()
      const engine = createOpenAiCompatibleProvider({
        upstream: { id: driverId, defaultBaseUrl: null, onDisconnect: 'stops' },
        baseUrl: endpoint,
        credentials: null,
        connectTimeoutMs,
      })
      engines.set(endpoint, engine)
      return engine
    },
    close: async () => {
      if (timer !== null) clearInterval(timer)
      for (const engine of [...engines.values(), ...retired]) await engine.close()
    },
  }
}
