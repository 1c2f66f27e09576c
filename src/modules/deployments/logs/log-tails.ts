import type { GpuRegistry } from '../../../gpu/registry.ts'
import type { Database } from '../../../storage/database.ts'
import type { Deployment } from '../deployment.ts'

/** The end of the log of a deployment's last run. */
export interface LogTail {
  /** Null if the deployment never had a run. */
  readonly runId: string | null
  /** Whether the run has not ended. */
  readonly isOpen: boolean
  readonly lines: readonly string[]
}

/** Reads logs from the drivers. Followers of the same deployment share one read. */
export interface LogTails {
  read(deployment: Deployment, linesMax: number): Promise<LogTail>
  /** Returns a tail that was requested at most 0.9 seconds ago. */
  readShared(deployment: Deployment): Promise<LogTail>
}

/** The number of lines that a shared read requests. */
const FOLLOWED_LINES_MAX = 1_000
const LINE_LENGTH_MAX = 8_000
const SHARED_MS = 900

interface TailOptions {
  readonly database: Database
  readonly gpus: Pick<GpuRegistry, 'get'>
  /** A monotonic clock in milliseconds. */
  readonly nowMs: () => number
}

export function createLogTails({ database, gpus, nowMs }: TailOptions): LogTails {
  const shared = new Map<string, { readonly tail: Promise<LogTail>; readonly readAtMs: number }>()

  const read: LogTails['read'] = async ({ id, driver }, linesMax) => {
    const [run] = await database.query<{ id: string; released_at: Date | null }>(
      'SELECT id, released_at FROM deployment_runs WHERE deployment_id = $1 ORDER BY id DESC LIMIT 1',
      [id],
    )
    if (run === undefined) return { runId: null, isOpen: false, lines: [] }
    const lines = (await gpus.get(driver)?.logs(run.id, { linesMax })) ?? []
    return {
      runId: run.id,
      isOpen: run.released_at === null,
      lines: lines.slice(-linesMax).map((line) => line.slice(0, LINE_LENGTH_MAX)),
    }
  }

  return {
    read,
    readShared: (deployment) => {
      const known = shared.get(deployment.id)
      if (known !== undefined && nowMs() - known.readAtMs < SHARED_MS) return known.tail
      const tail = read(deployment, FOLLOWED_LINES_MAX)
      shared.set(deployment.id, { tail, readAtMs: nowMs() })
      for (const [id, { readAtMs }] of shared) if (nowMs() - readAtMs >= SHARED_MS) shared.delete(id)
      return tail
    },
  }
}
