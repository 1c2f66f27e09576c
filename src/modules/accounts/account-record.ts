import type { NanoUsd } from '../../kernel/money.ts'

const STATUSES = ['active', 'suspended'] as const
export type AccountStatus = (typeof STATUSES)[number]

export interface Account {
  readonly id: string
  readonly name: string
  readonly status: AccountStatus
  /** The sum of paid and promotional credit. Negative while a reversal is not covered. */
  readonly balanceNanoUsd: NanoUsd
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export interface AccountRow {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly created_at: Date
  readonly updated_at: Date
}

export const ACCOUNT_COLUMNS = 'id, name, status, created_at, updated_at'

export function accountFromRow(row: AccountRow, balanceNanoUsd: NanoUsd): Account {
  const status = STATUSES.find((candidate) => candidate === row.status)
  if (status === undefined) throw new Error(`account ${row.id} has the unknown status '${row.status}'`)
  return {
    id: row.id,
    name: row.name,
    status,
    balanceNanoUsd,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
  }
}
