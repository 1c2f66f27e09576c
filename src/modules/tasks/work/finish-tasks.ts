import { isRecord } from '../../../kernel/is-record.ts'
import { usdFromNanoUsd, type NanoUsd } from '../../../kernel/money.ts'
import { toStorableJson } from '../../../kernel/storable-text.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { addJob } from '../../../storage/job-queue.ts'
import type { UncoveredCost } from '../../ledger/ledger.ts'
import type { Claim } from './claim-tasks.ts'
import type { TaskLedger } from '../create-tasks.ts'
import { holdKeyOf } from '../new-task.ts'
import { settleOrderOf } from '../settle-order.ts'
import type { TaskOutcome } from './task-performer.ts'
import { INSERT_DELIVERIES } from '../webhooks/webhook-delivery.ts'

/** How a task ended, reported by the worker that had claimed it. */
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
  /** Called if a task cost more than its account had. */
  readonly onUncovered: (uncovered: UncoveredCost) => void
  readonly onCharged: (charged: ChargedTask) => void
}

/** What a task cost its account. */
export interface ChargedTask {
  readonly model: string
  readonly provider: string
  readonly chargedNanoUsd: NanoUsd
}

/** Whether the task cost more than its hold. Such a task is finished separately, after the account's lent credit is recalled. */
export function isAboveHold({ claim, end }: TaskEnd): boolean {
  return end.status === 'completed' && end.costNanoUsd > claim.task.holdNanoUsd
}

/**
 * Finishes tasks, closes their holds and queues their webhooks in one transaction. Returns for each whether it was finished here.
 * A task whose claim was lost, to a cancellation or another worker, is not changed.
 */
export async function finishTasks(options: FinishOptions, ends: readonly TaskEnd[]): Promise<boolean[]> {
  const { database, ledger, retentionMs } = options
  let closed: Closed = { charged: [], uncovered: [] }
  const finished = await database.transaction(async (transaction) => {
    const rows = await transaction.query<EndedRow>(FINISH, [toStorableJson(ends.map(toColumns)), retentionMs])
    const ended = new Map(rows.map((row) => [row.id, row]))
    if (rows.some(({ webhook_url: url }) => url !== null)) await addJob(transaction, 'webhook')
    const charged = await chargeAboveHolds(transaction, ledger, ends, ended)
    if (ledger !== null) closed = await closeHolds(transaction, { ...options, ledger }, ends, ended, charged)
    return ends.map(({ claim }) => ended.has(claim.task.id))
  })
  for (const cost of closed.uncovered) options.onUncovered(cost)
  for (const task of closed.charged) options.onCharged(task)
  return finished
}

/** Charges the part of the cost above the hold to the account's credit, and stores the resulting cost of the task. */
async function chargeAboveHolds(
  transaction: Queryable,
  ledger: TaskLedger | null,
  ends: readonly TaskEnd[],
  ended: ReadonlyMap<string, EndedRow>,
): Promise<ReadonlyMap<string, NanoUsd>> {
  const charged = new Map<string, NanoUsd>()
  for (const { claim, end } of ends.filter(isAboveHold)) {
    const { id, accountId, keyId, model, labels, createdAtMs } = claim.task
    const row = ended.get(id)
    if (row === undefined || end.status !== 'completed') continue
    const order = {
      key: holdKeyOf(id),
      accountId,
      keyId,
      neededNanoUsd: end.costNanoUsd,
      model,
      labels: labels ?? [],
      atMs: createdAtMs,
    }
    const heldNanoUsd =
      ledger !== null && row.is_held ? await ledger.growHold(transaction, order) : end.costNanoUsd
    const costNanoUsd = heldNanoUsd < end.costNanoUsd ? heldNanoUsd : end.costNanoUsd
    charged.set(id, costNanoUsd)
    const usage = isRecord(end.usage) ? { ...end.usage, cost_usd: usdFromNanoUsd(costNanoUsd) } : end.usage
    await transaction.query(
      'UPDATE tasks SET cost_nano_usd = $2, hold_nano_usd = greatest(hold_nano_usd, $2), usage = $3 WHERE id = $1',
      [id, costNanoUsd, JSON.stringify(usage)],
    )
  }
  return charged
}

interface Closed {
  readonly charged: readonly ChargedTask[]
  readonly uncovered: readonly UncoveredCost[]
}

async function closeHolds(
  transaction: Queryable,
  { ledger, writer }: FinishOptions & { readonly ledger: TaskLedger },
  ends: readonly TaskEnd[],
  ended: ReadonlyMap<string, EndedRow>,
  charged: ReadonlyMap<string, NanoUsd>,
): Promise<Closed> {
  const closed = { charged: new Array<ChargedTask>(), uncovered: new Array<UncoveredCost>() }
  const orders = ends.flatMap(({ claim, end }) => {
    const row = ended.get(claim.task.id)
    if (end.status !== 'completed' || row?.is_held !== true) return []
    const { task } = claim
    const chargedNanoUsd = charged.get(task.id) ?? end.costNanoUsd
    const uncoveredNanoUsd = end.costNanoUsd - chargedNanoUsd
    if (uncoveredNanoUsd > 0n) {
      const { requestId, accountId, model } = task
      closed.uncovered.push({ requestId, accountId, model, uncoveredNanoUsd, owedNanoUsd: 0n })
    }
    const { provider } = end
    closed.charged.push({ model: task.model, provider, chargedNanoUsd })
    const latencyMs = row.latency_ms
    const charge = {
      chargedNanoUsd,
      uncoveredNanoUsd,
      provider,
      outcome: 'completed' as const,
      latencyMs,
      writer,
      units: unitsOf(end.usage),
      counted: end.counted ?? null,
      vendorCost: end.vendorCost,
    }
    return [settleOrderOf(task, charge)]
  })
  await ledger.settleHolds(transaction, orders)
  for (const { id, status, is_held: isHeld } of ended.values())
    if (isHeld && status === 'failed') await ledger.releaseHold(transaction, holdKeyOf(id))
  return closed
}

/** What the usage of a task counts. */
function unitsOf(usage: unknown): number {
  if (!isRecord(usage)) return 0
  const count = usage['images'] ?? usage['characters'] ?? usage['seconds']
  return typeof count === 'number' && Number.isFinite(count) ? Math.round(count) : 0
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
    // The part above the hold is charged next.
    cost_nano_usd: String(end.costNanoUsd < task.holdNanoUsd ? end.costNanoUsd : task.holdNanoUsd),
  }
}

// Only a task in `processing` has a worker, so the status is not checked. With the status in the condition, the planner could use
// the status index, which contains the dead rows of all tasks that were ever in `processing`.
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
