import type { NanoUsd } from '../../kernel/money.ts'

/** What changes a balance, in the order of a statement. */
export const MOVEMENT_KINDS = [
  'top_ups',
  'promotional_credit',
  'charges',
  'costs_owed',
  'refunds',
  'adjustments',
  'expired_credit',
] as const
export type MovementKind = (typeof MOVEMENT_KINDS)[number]

/** The change of the balance by each kind. */
export type StatementSums = Readonly<Record<MovementKind, NanoUsd>>

/**
 * What a movement of the ledger is on a statement.
 * @param book where the credit came from or went to
 */
export function kindOfMovement(kind: string, book: string): MovementKind {
  if (kind === 'charge') return 'charges'
  if (kind === 'expire') return 'expired_credit'
  if (book === 'promotion') return 'promotional_credit'
  if (book === 'cash') return kind === 'grant' ? 'top_ups' : 'refunds'
  // A cost that the balance did not cover, which the account owes.
  if (book === 'revenue') return 'costs_owed'
  return 'adjustments'
}

/** A sum of the ledger, by kind and book of its entries. */
export interface LedgerSum {
  readonly kind: string
  readonly book: string
  readonly amount: NanoUsd
}

export function addSums(rows: readonly LedgerSum[]): StatementSums {
  const sums: Record<MovementKind, NanoUsd> = {
    top_ups: 0n,
    promotional_credit: 0n,
    charges: 0n,
    costs_owed: 0n,
    refunds: 0n,
    adjustments: 0n,
    expired_credit: 0n,
  }
  for (const { kind, book, amount } of rows) sums[kindOfMovement(kind, book)] += amount
  return sums
}

export function totalOf(sums: StatementSums): NanoUsd {
  return MOVEMENT_KINDS.reduce((total, kind) => total + sums[kind], 0n)
}
