import { join } from 'node:path'
import type { GpuDriver } from '../../gpu/gpu-driver.ts'
import { createLocalDriver } from '../../gpu/local/local-driver.ts'
import type { ModelFiles } from '../../gpu/model-files.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Config } from '../settings/config.ts'

/** Environment variables that engines inherit. The settings name all others. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'TZ'] as const
const RESTART_MS = 1_000
const LOCAL_ENDPOINT = /^http:\/\/127\.0\.0\.1:\d{1,5}\/v1$/

/** Returns whether the endpoint is on the loopback address, where local engines listen. */
export function isLocalEndpoint(endpoint: string): boolean {
  return LOCAL_ENDPOINT.test(endpoint)
}

interface LocalDriverParts {
  readonly clock: Clock
  readonly files: ModelFiles
  /** Returns the hub token of a run. */
  readonly readToken: (runId: string) => Promise<string | null>
  /** Whether the account of a run may use the operator's hub token. */
  readonly mayUseHubToken: (runId: string) => Promise<boolean>
  readonly report: (problem: string) => void
}

/** Builds the driver for engines on this machine. */
export function buildLocalDriver(config: Config, parts: LocalDriverParts): GpuDriver {
  const { localGpu: settings } = config
  return createLocalDriver({
    settings,
    directory: join(config.dataDir, 'engines'),
    inherited: Object.fromEntries(
      INHERITED.flatMap((name) => {
        const value = process.env[name]
        return value === undefined ? [] : [[name, value]]
      }),
    ),
    ...parts,
    restartMs: RESTART_MS,
    restartMsMax: config.gpuStartTimeoutMs,
  })
}
