import type { Database, Queryable } from '../../storage/database.ts'
import { addJob } from '../../storage/job-queue.ts'
import type { Claim } from './claim-tasks.ts'
import type { TaskLedger } from './create-tasks.ts'
import { holdKeyOf } from './new-task.ts'
import { settleOrderOf } from './settle-order.ts'
import type { TaskOutcome } from './task-performer.ts'
import { INSERT_DELIVERIES } from './webhook-delivery.ts'

/** How a task ended, said by the worker that had it. */
export interface TaskEnd {
  readonly claim: Claim
  readonly end:
    | ({ readonly status: 'completed' } & TaskOutcome)
    | { readonly status: 'failed'; readonly code: string; readonly message: string }
}

interface FinishOptions {
  readonly database: Database
  readonly ledger: TaskLedger | null
  readonly writer: number
  readonly retentionMs: number
}

/**
 * Ends tasks with their money and their webhooks in one transaction. Says of each whether this was its end: whoever lost it,
 * to a cancel or to another worker, changes nothing.
 */
export function finishTasks(options: FinishOptions, ends: readonly TaskEnd[]): Promise<boolean[]> {
  const { database, ledger, retentionMs } = options
  return database.transaction(async (transaction) => {
    const rows = await transaction.query<EndedRow>(FINISH, [JSON.stringify(ends.map(toColumns)), retentionMs])
    const ended = new Map(rows.map((row) => [row.id, row]))
    if (rows.some(({ webhook_url: url }) => url !== null)) await addJob(transaction, 'webhook')
    if (ledger !== null) await closeHolds(transaction, { ...options, ledger }, ends, ended)
    return ends.map(({ claim }) => ended.has(claim.task.id))
  })
}

async function closeHolds(
  transaction: Queryable,
  { ledger, writer }: FinishOptions & { readonly ledger: TaskLedger },
  ends: readonly TaskEnd[],
  ended: ReadonlyMap<string, EndedRow>,
): Promise<void> {
  const orders = ends.flatMap(({ claim, end }) => {
    const row = ended.get(claim.task.id)
    if (end.status !== 'completed' || row?.is_held !== true) return []
    const { task } = claim
    const chargedNanoUsd = chargeOf(task.holdNanoUsd, end.costNanoUsd)
    const { provider } = end
    const latencyMs = row.latency_ms
    return [settleOrderOf(task, { chargedNanoUsd, provider, outcome: 'completed', latencyMs, writer })]
  })
  await ledger.settleHolds(transaction, orders)
  for (const { id, status, is_held: isHeld } of ended.values())
    if (isHeld && status === 'failed') await ledger.releaseHold(transaction, holdKeyOf(id))
}

/** A charge is never above what was held. */
function chargeOf(holdNanoUsd: bigint, costNanoUsd: bigint): bigint {
  return costNanoUsd < holdNanoUsd ? costNanoUsd : holdNanoUsd
}

interface EndedRow {
  readonly id: string
  readonly status: 'completed' | 'failed'
  readonly is_held: boolean
  readonly webhook_url: string | null
  readonly latency_ms: number
}

function toColumns({ claim, end }: TaskEnd): object {
  const { task, workerId } = claim
  const shared = { id: task.id, worker_id: workerId, status: end.status }
  if (end.status === 'failed') return { ...shared, error_code: end.code, error_message: end.message }
  return {
    ...shared,
    result: end.result,
    usage: end.usage,
    provider: end.provider,
    cost_nano_usd: String(chargeOf(task.holdNanoUsd, end.costNanoUsd)),
  }
}

// Only a task that is being processed has a worker. Said without its status, it is found by its id and not among the
// remains of all that was ever being processed.
const FINISH = `
  WITH tasks AS (
    UPDATE tasks SET status = ended.status, worker_id = NULL, result = ended.result, usage = ended.usage,
      provider = coalesce(ended.provider, tasks.provider), cost_nano_usd = ended.cost_nano_usd,
      error_code = ended.error_code, error_message = ended.error_message, completed_at = now(), updated_at = now(),
      progress = CASE ended.status WHEN 'completed' THEN 100 ELSE tasks.progress END,
      expires_at = now() + $2 * interval '1 millisecond'
    FROM jsonb_to_recordset($1::jsonb) AS ended (id uuid, worker_id uuid, status text, result jsonb, usage jsonb,
      provider text, cost_nano_usd bigint, error_code text, error_message text)
    WHERE tasks.id = ended.id AND tasks.worker_id = ended.worker_id
    RETURNING tasks.*
  ), deliveries AS (${INSERT_DELIVERIES})
  SELECT id, status, is_held, webhook_url, (extract(epoch FROM completed_at - created_at) * 1000)::int AS latency_ms
  FROM tasks`
