import type { NanoUsd } from '../../kernel/money.ts'

const STATUSES = ['active', 'suspended'] as const
export type AccountStatus = (typeof STATUSES)[number]

export interface Account {
  readonly id: string
  readonly name: string
  readonly status: AccountStatus
  /** Why it is suspended, as it is told. */
  readonly suspendedReason: string | null
  /** Of operators. The account does not see it. */
  readonly note: string | null
  /** Of its days and months in reports. Null for UTC. */
  readonly timeZone: string | null
  /** The sum of paid and promotional credit. Negative while a reversal is not covered. */
  readonly balanceNanoUsd: NanoUsd
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export interface AccountRow {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly suspended_reason: string | null
  readonly note: string | null
  readonly time_zone: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

export const ACCOUNT_COLUMNS = 'id, name, status, suspended_reason, note, time_zone, created_at, updated_at'

export function accountFromRow(row: AccountRow, balanceNanoUsd: NanoUsd): Account {
  const status = STATUSES.find((candidate) => candidate === row.status)
  if (status === undefined) throw new Error(`account ${row.id} has the unknown status '${row.status}'`)
  return {
    id: row.id,
    name: row.name,
    status,
    suspendedReason: status === 'suspended' ? row.suspended_reason : null,
    note: row.note,
    timeZone: row.time_zone,
    balanceNanoUsd,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
  }
}
