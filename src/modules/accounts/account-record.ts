import type { NanoUsd } from '../../kernel/money.ts'

const STATUSES = ['active', 'suspended'] as const
export type AccountStatus = (typeof STATUSES)[number]

export interface Account {
  readonly id: string
  readonly name: string
  readonly status: AccountStatus
  readonly balanceNanoUsd: NanoUsd
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export interface AccountRow {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly balance_nano_usd: bigint
  readonly created_at: Date
  readonly updated_at: Date
}

export const ACCOUNT_COLUMNS = 'id, name, status, balance_nano_usd, created_at, updated_at'

export function accountFromRow(row: AccountRow): Account {
  const status = STATUSES.find((candidate) => candidate === row.status)
  if (status === undefined) throw new Error(`account ${row.id} has the unknown status '${row.status}'`)
  return {
    id: row.id,
    name: row.name,
    status,
    balanceNanoUsd: row.balance_nano_usd,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
  }
}
