import { join, resolve } from 'node:path'
import type { GpuDriver } from '../../gpu/gpu-driver.ts'
import { describeIsolation } from '../../gpu/local/isolate-engine.ts'
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
  /** Called once with the isolation of engines. */
  readonly tell: (text: string) => void
}

/** Builds the driver for engines on this machine. */
export async function buildLocalDriver(
  config: Config,
  { tell, ...parts }: LocalDriverParts,
): Promise<GpuDriver> {
  const isolation = {
    settings: config.localGpu,
    dataDirectory: resolve(config.dataDir),
    inherited: Object.fromEntries(
      INHERITED.flatMap((name) => {
        const value = process.env[name]
        return value === undefined ? [] : [[name, value]]
      }),
    ),
  }
  const { text, problems } = await describeIsolation(isolation)
  tell(text)
  for (const problem of problems) parts.report(problem)
  return createLocalDriver({
    ...isolation,
    directory: join(config.dataDir, 'engines'),
    ...parts,
    restartMs: RESTART_MS,
    restartMsMax: config.gpuStartTimeoutMs,
  })
}
