import { uuidOfRequest } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { UsageRecord, VendorCost } from '../ledger/ledger.ts'
import { holdKeyOf } from './new-task.ts'
import type { ClaimedTask } from './work/task-performer.ts'

type ChargedTask = Pick<
  ClaimedTask,
  | 'id'
  | 'accountId'
  | 'keyId'
  | 'environment'
  | 'requestId'
  | 'type'
  | 'model'
  | 'createdAtMs'
  | 'labels'
  | 'priceVersion'
>

interface TaskCharge {
  readonly chargedNanoUsd: NanoUsd
  readonly uncoveredNanoUsd?: NanoUsd
  readonly provider: string
  readonly outcome: UsageRecord['outcome']
  readonly latencyMs: number
  readonly units?: number
  /** What was counted for the charge. */
  readonly counted: string | null
  readonly vendorCost?: VendorCost | undefined
  /** The writer number of the process that charges. */
  readonly writer: number
}

/** Returns the ledger order that settles the hold of a task. */
export function settleOrderOf(task: ChargedTask, charge: TaskCharge) {
  const {
    chargedNanoUsd,
    uncoveredNanoUsd = 0n,
    provider,
    outcome,
    latencyMs,
    writer,
    units = 0,
    counted,
    vendorCost,
  } = charge
  return {
    key: holdKeyOf(task.id),
    chargedNanoUsd,
    uncoveredNanoUsd,
    reason: `Task ${task.id}`,
    usage: {
      writer,
      record: {
        id: uuidOfRequest(task.requestId),
        accountId: task.accountId,
        keyId: task.keyId,
        environment: task.environment,
        operation: task.type,
        model: task.model,
        provider,
        outcome,
        promptTokens: 0,
        cachedTokens: 0,
        completionTokens: 0,
        reasoningTokens: 0,
        units,
        latencyMs,
        firstTokenMs: null,
        createdAtMs: task.createdAtMs,
        ...(task.priceVersion !== null && counted !== null && { priceVersion: task.priceVersion, counted }),
        ...(vendorCost !== undefined && { vendorCost }),
        ...(task.labels !== null && { labels: task.labels }),
      },
    },
  }
}
