import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { messageOf } from '../../storage/storage-error.ts'

/** Stores this process's requests in flight for the other processes: a deployment is idle only if all processes have none. */
export interface DeploymentActivity {
  /** Counts a request until the returned function is called. Calling it more than once has no effect. */
  begin(deploymentId: string): () => void
  /** Resolves when the counts are in the database. */
  flush(): Promise<void>
  close(): Promise<void>
}

interface ActivityOptions {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
  /** Unique for each process and each start of it. */
  readonly processId: string
  readonly flushMs?: number
}

interface Counter {
  inFlight: number
  lastEndedMs: number | null
  isChanged: boolean
}

const FLUSH_MS = 2_000
/** Older rows belong to a process that has died, and are not counted. */
const STALE_MS = 30_000

export function createDeploymentActivity(options: ActivityOptions): DeploymentActivity {
  const { database, clock, logger, processId, flushMs = FLUSH_MS } = options
  const counters = new Map<string, Counter>()
  let flushing: Promise<void> = Promise.resolve()

  const write = async (): Promise<void> => {
    const due = [...counters].filter(([, counter]) => counter.isChanged || counter.inFlight > 0)
    if (due.length === 0) return
    for (const [, counter] of due) counter.isChanged = false
    try {
      await database.query(WRITE, [
        processId,
        new Date(clock.nowMs()),
        due.map(([id]) => id),
        due.map(([, { inFlight }]) => inFlight),
        due.map(([, { lastEndedMs }]) => (lastEndedMs === null ? null : new Date(lastEndedMs))),
      ])
    } catch (error) {
      for (const [, counter] of due) counter.isChanged = true
      throw error
    }
    for (const [id, { inFlight, isChanged }] of due) if (inFlight === 0 && !isChanged) counters.delete(id)
  }
  const flush = (): Promise<void> => {
    // Writes run one after the other, so that an older count never overwrites a newer one.
    flushing = flushing.then(write, write)
    return flushing
  }
  const timer = setInterval(() => {
    flush().catch((error: unknown) =>
      logger.warn({ reason: messageOf(error) }, 'requests to deployments could not be noted'),
    )
  }, flushMs).unref()

  return {
    begin: (deploymentId) => {
      const counter = counters.get(deploymentId) ?? { inFlight: 0, lastEndedMs: null, isChanged: true }
      counters.set(deploymentId, counter)
      counter.inFlight += 1
      counter.isChanged = true
      let isEnded = false
      return () => {
        if (isEnded) return
        isEnded = true
        counter.inFlight -= 1
        counter.lastEndedMs = clock.nowMs()
        counter.isChanged = true
        // A safeguard: a flush removes only counters without requests in flight.
        counters.set(deploymentId, counter)
      }
    },
    flush,
    close: async () => {
      clearInterval(timer)
      await flush().catch(() => {})
    },
  }
}

// The join skips deployments that were removed with their account.
const WRITE = `
  WITH counted AS (
    SELECT counted.* FROM unnest($3::uuid[], $4::int[], $5::timestamptz[]) AS counted (id, in_flight, ended_at)
    JOIN deployments USING (id)
  ), noted AS (
    UPDATE deployments SET last_request_at = greatest(last_request_at, ended_at)
    FROM counted WHERE deployments.id = counted.id AND ended_at IS NOT NULL
  )
  INSERT INTO deployment_activity (deployment_id, process_id, in_flight, updated_at)
  SELECT id, $1::uuid, in_flight, $2::timestamptz FROM counted
  ON CONFLICT (deployment_id, process_id) DO UPDATE SET in_flight = excluded.in_flight, updated_at = excluded.updated_at`

/** Returns the number of requests in flight in all processes. */
export async function countInFlight(
  queryable: Queryable,
  deploymentId: string,
  nowMs: number,
): Promise<number> {
  const [row] = await queryable.query<{ in_flight: number }>(
    `SELECT coalesce(sum(in_flight), 0)::int AS in_flight FROM deployment_activity WHERE deployment_id = $1 AND updated_at > $2`,
    [deploymentId, new Date(nowMs - STALE_MS)],
  )
  return row?.in_flight ?? 0
}

/** Deletes rows that were not updated for an hour: their process has died, or has had no requests since. */
export async function sweepActivity(queryable: Queryable, nowMs: number): Promise<void> {
  await queryable.query('DELETE FROM deployment_activity WHERE updated_at < $1', [new Date(nowMs - SWEPT_MS)])
}

const SWEPT_MS = 3_600_000
