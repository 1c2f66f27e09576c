import { inspect } from 'node:util'
import type { TaskStage } from '../../src/modules/tasks/testing/task-stage.ts'
import { until } from '../app/call.ts'
import { spawnScript, type Script } from '../storage/spawn-script.ts'
import type { JobUpstream } from './job-upstream.ts'
import { randomShare } from '../support/random-share.ts'

/** Worker processes on one database and one upstream. */
export interface WorkerFleet {
  start(): Promise<void>
  /** Kills one random worker with SIGKILL. */
  killOne(): Promise<void>
  killAll(): Promise<void>
  close(): Promise<void>
}

/** A worker that does not run for this long counts as dead. */
const LEASE_MS = 2_000
/** The number of tasks that a worker processes at the same time. */
const PLACES = 25

export function createWorkerFleet(connectionString: string, upstream: JobUpstream): WorkerFleet {
  const workers = new Set<Script>()
  const kill = async (worker: Script): Promise<void> => {
    workers.delete(worker)
    await worker.kill()
  }
  return {
    start: async () => {
      const script = new URL('./worker-process.ts', import.meta.url)
      const worker = spawnScript(script, [connectionString, upstream.url, String(LEASE_MS), String(PLACES)])
      workers.add(worker)
      await worker.read()
    },
    killOne: async () => {
      const living = [...workers]
      const victim = living[Math.floor(randomShare() * living.length)]
      if (victim !== undefined) await kill(victim)
    },
    killAll: async () => {
      await Promise.all([...workers].map(kill))
    },
    close: async () => {
      await Promise.all([...workers].map((worker) => worker.finish()))
    },
  }
}

export interface EndedTask {
  readonly id: string
  readonly requestId: string
  readonly status: string
  /** The number of workers that died while they processed the task. */
  readonly interruptions: number
  readonly errorCode: string | null
  readonly holdStatus: string
  readonly chargedNanoUsd: bigint
  /** The number of usage records of the task. */
  readonly charges: number
  readonly chargedInUsageNanoUsd: bigint
}

/** Waits until all tasks have ended, and returns how each one ended. */
export async function untilAllEnded({ tasks, database }: TaskStage): Promise<EndedTask[]> {
  await until(async () => {
    const counts = await tasks.count().catch(() => null)
    return counts !== null && counts.pending + counts.processing === 0
  })
  const rows = await database.query<{
    id: string
    request_id: string
    status: string
    interruptions: number
    error_code: string | null
    hold_status: string
    charged: bigint
    charges: number
    cost: bigint
  }>(
    `SELECT tasks.id, request_id, tasks.status, interruptions, error_code, hold.status AS hold_status,
       hold.charged_nano_usd AS charged, count(usage.id)::int AS charges,
       coalesce(sum(usage.cost_nano_usd), 0)::bigint AS cost
     FROM tasks JOIN credit_holds hold ON hold.key = 'task:' || tasks.id
       LEFT JOIN usage_records usage ON usage.account_id = tasks.account_id
         AND 'req_' || replace(usage.id::text, '-', '') = request_id
     GROUP BY tasks.id, hold.key ORDER BY tasks.id`,
  )
  return rows.map((row) => ({
    id: row.id,
    requestId: row.request_id,
    status: row.status,
    interruptions: row.interruptions,
    errorCode: row.error_code,
    holdStatus: row.hold_status,
    chargedNanoUsd: row.charged,
    charges: row.charges,
    chargedInUsageNanoUsd: row.cost,
  }))
}

/** Returns violations of the rule that a completed task is charged once and any other task is not charged. */
export function findWrongMoney(ended: readonly EndedTask[], costNanoUsd: bigint): string[] {
  return ended
    .filter(({ status, holdStatus, chargedNanoUsd, charges, chargedInUsageNanoUsd }) => {
      if (status === 'completed') {
        const isChargedOnce = charges === 1 && chargedInUsageNanoUsd === costNanoUsd
        return !(isChargedOnce && holdStatus === 'settled' && chargedNanoUsd === costNanoUsd)
      }
      return !(charges === 0 && holdStatus === 'released' && chargedNanoUsd === 0n)
    })
    .map((task) => inspect(task))
}

/** Returns violations of the rule that a job is submitted twice only if the answer to the first submit was lost. */
export function findRepeatedSubmits(ended: readonly EndedTask[], upstream: JobUpstream): string[] {
  return ended
    .map(({ requestId }) => upstream.jobsOf(requestId))
    .filter(
      (jobs) => jobs.filter(({ isCut }) => !isCut).length > 1 || jobs.length > 1 + Number(jobs[0]?.isCut),
    )
    .map((jobs) => inspect(jobs))
}
