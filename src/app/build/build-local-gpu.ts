import { join } from 'node:path'
import type { GpuDriver } from '../../gpu/gpu-driver.ts'
import { createLocalDriver } from '../../gpu/local/local-driver.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createOpenAiCompatibleProvider } from '../../providers/openai-compatible/openai-compatible.ts'
import type { ClosableProvider } from '../../providers/create-provider.ts'
import type { Provider } from '../../providers/provider.ts'
import type { Config } from '../settings/config.ts'
import { UsageError } from '../settings/usage-error.ts'

/** What every program needs; whatever else an engine gets is named in its settings. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'TZ'] as const
const RESTART_MS = 1_000

/** Engines on this machine. */
export function buildLocalDriver(config: Config, clock: Clock): GpuDriver {
  const { localGpu: settings } = config
  const hasCommand =
    settings.command.length > 0 ||
    (settings.tiers !== null && Object.values(settings.tiers).every(({ command }) => command !== null))
  if (!hasCommand) throw new UsageError('PARKWAY_GPU_DRIVER=local needs a command in PARKWAY_LOCAL_GPU.')
  return createLocalDriver({
    settings,
    directory: join(config.dataDir, 'engines'),
    inherited: Object.fromEntries(
      INHERITED.flatMap((name) => {
        const value = process.env[name]
        return value === undefined ? [] : [[name, value]]
      }),
    ),
    clock,
    restartMs: RESTART_MS,
    restartMsMax: config.gpuStartTimeoutMs,
  })
}

const ENGINES_MAX = 1_000
const LOCAL_ENDPOINT = /^http:\/\/127\.0\.0\.1:\d{1,5}\/v1$/

interface EngineConnections {
  connect(endpoint: string): Provider
  close(): Promise<void>
}

/** Creates a client for each local engine. The connections are closed with the gateway, because engines outlive it. */
export function createEngineConnections(options: { connectTimeoutMs: number }): EngineConnections {
  const engines = new Map<string, ClosableProvider>()
  return {
    connect: (endpoint) => {
      const known = engines.get(endpoint)
      if (known !== undefined) return known
      if (!LOCAL_ENDPOINT.test(endpoint)) throw new Error('an engine of this machine listens on 127.0.0.1')
      const engine = createOpenAiCompatibleProvider({
        upstream: { id: 'local', defaultBaseUrl: null, whenLeft: 'stops' },
        baseUrl: endpoint,
        credentials: null,
        ...options,
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
