import type { NanoUsd } from '../../kernel/money.ts'
import type { MovementKind, StatementSums } from './statement-sums.ts'
import type { StatementMonth } from './statement-month.ts'

/** Whoever operates the gateway, as statements name them. Null for what is not set. */
export interface StatementOperator {
  readonly name: string | null
  readonly address: string | null
  readonly taxId: string | null
  /** A sentence about taxes. It changes no amount. */
  readonly taxLine: string | null
}

/** Charges of one model, project, key or day. The amount is what was charged, so it is positive. */
export interface ChargeLine {
  /** Null for the lines beyond the limit, together. */
  readonly id: string | null
  readonly name: string
  readonly requests: number
  readonly amountNanoUsd: NanoUsd
}

export const CHARGE_DIMENSIONS = ['model', 'project', 'key', 'day'] as const
export type ChargeDimension = (typeof CHARGE_DIMENSIONS)[number]

export interface Charges {
  readonly totalNanoUsd: NanoUsd
  /** The dearest first, days in their order. Each list adds up to the total. */
  readonly lines: Readonly<Record<ChargeDimension, readonly ChargeLine[]>>
}

/** A change of the balance that is no charge. */
export interface StatementMovement {
  readonly atMs: number
  readonly kind: MovementKind
  readonly amountNanoUsd: NanoUsd
  readonly reason: string | null
}

/** What only a statement of a whole account has. */
export interface AccountSums {
  readonly openingNanoUsd: NanoUsd
  readonly sums: StatementSums
  readonly closingNanoUsd: NanoUsd
  /** The first ones. `hasMoreMovements` says whether there are others, which the file with all rows has. */
  readonly movements: readonly StatementMovement[]
  readonly hasMoreMovements: boolean
}

export interface Statement {
  readonly month: StatementMonth
  readonly account: { readonly id: string; readonly name: string }
  /** Null: the whole account. */
  readonly project: { readonly id: string; readonly name: string } | null
  /** Null until the month is closed, and for a month in which there was nothing. */
  readonly number: number | null
  readonly closedAtMs: number | null
  readonly isClosed: boolean
  readonly operator: StatementOperator
  readonly charges: Charges
  /** Null for a project: credit belongs to the account. */
  readonly balance: AccountSums | null
}

/** A month in a list. */
export interface StatementSummary {
  readonly id: string
  readonly month: StatementMonth
  readonly number: number | null
  readonly isClosed: boolean
  readonly chargedNanoUsd: NanoUsd
  readonly balance: Pick<AccountSums, 'openingNanoUsd' | 'sums' | 'closingNanoUsd'> | null
}

/** `ST-000042` */
export function numberText(number: number): string {
  return `ST-${String(number).padStart(6, '0')}`
}
