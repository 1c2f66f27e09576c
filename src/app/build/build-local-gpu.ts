import { join } from 'node:path'
import type { GpuDriver } from '../../gpu/gpu-driver.ts'
import { createLocalDriver } from '../../gpu/local/local-driver.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Config } from '../settings/config.ts'
import { UsageError } from '../settings/usage-error.ts'

/** What every program needs; whatever else an engine gets is named in its settings. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'TZ'] as const
const RESTART_MS = 1_000
const LOCAL_ENDPOINT = /^http:\/\/127\.0\.0\.1:\d{1,5}\/v1$/

/** Engines of this machine listen on its loopback address. */
export function isLocalEndpoint(endpoint: string): boolean {
  return LOCAL_ENDPOINT.test(endpoint)
}

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
