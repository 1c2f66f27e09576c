import type { NanoUsd } from '../../../kernel/money.ts'
import type { SavedMethod } from '../../../payments/saved-methods.ts'
import type { Queryable } from '../../../storage/database.ts'

/** The rules of an account: below the threshold, the amount is charged, up to the ceiling in a month of UTC. */
export interface TopUpRules {
  readonly thresholdNanoUsd: NanoUsd
  readonly amountNanoUsd: NanoUsd
  readonly ceilingNanoUsd: NanoUsd
}

/** A saved payment method, and when it was saved. */
export interface SavedCard extends SavedMethod {
  readonly provider: string
  readonly baseUrl: string
  readonly savedAtMs: number
}

/** The automatic top-up of an account, as it is stored. */
export interface AutoTopUpRecord {
  readonly isEnabled: boolean
  /** Null until they are set. */
  readonly rules: TopUpRules | null
  readonly card: SavedCard | null
  /** Charges that failed since one succeeded, or since something was set. */
  readonly failures: number
  readonly nextTryAtMs: number | null
  /** The last failure, as the provider calls it. Null after a success. */
  readonly problem: string | null
  /** The month in which the account was told that the ceiling is reached: `2026-11-01`. */
  readonly ceilingToldMonth: string | null
}

const NO_AUTO_TOP_UP: AutoTopUpRecord = {
  isEnabled: false,
  rules: null,
  card: null,
  failures: 0,
  nextTryAtMs: null,
  problem: null,
  ceilingToldMonth: null,
}

interface AutoTopUpRow {
  readonly provider: string | null
  readonly customer_id: string | null
  readonly method_id: string | null
  readonly brand: string | null
  readonly last4: string | null
  readonly expiry_month: number | null
  readonly expiry_year: number | null
  readonly base_url: string | null
  readonly saved_at: Date | null
  readonly is_enabled: boolean
  readonly threshold_nano_usd: bigint | null
  readonly amount_nano_usd: bigint | null
  readonly ceiling_nano_usd: bigint | null
  readonly failures: number
  readonly next_try_at: Date | null
  readonly problem: string | null
  readonly ceiling_told_month: string | null
}

const SELECT = `
  SELECT provider, customer_id, method_id, brand, last4, expiry_month, expiry_year, base_url, saved_at, is_enabled,
    threshold_nano_usd, amount_nano_usd, ceiling_nano_usd, failures, next_try_at, problem, ceiling_told_month::text
  FROM auto_top_ups WHERE account_id = $1`

export async function readAutoTopUp(queryable: Queryable, accountId: string): Promise<AutoTopUpRecord> {
  const [row] = await queryable.query<AutoTopUpRow>(SELECT, [accountId])
  return row === undefined ? NO_AUTO_TOP_UP : recordFromRow(row)
}

/** Locks the row, which everything that changes or charges the automatic top-up of an account takes first. */
export async function lockAutoTopUp(transaction: Queryable, accountId: string): Promise<AutoTopUpRecord> {
  await transaction.query('INSERT INTO auto_top_ups (account_id) VALUES ($1) ON CONFLICT DO NOTHING', [
    accountId,
  ])
  const [row] = await transaction.query<AutoTopUpRow>(`${SELECT} FOR UPDATE`, [accountId])
  if (row === undefined) throw new Error(`the automatic top-up of ${accountId} vanished`)
  return recordFromRow(row)
}

/** The same, but null if it is not on, or if another process has locked it. */
export async function lockIfEnabled(
  transaction: Queryable,
  accountId: string,
): Promise<AutoTopUpRecord | null> {
  const [row] = await transaction.query<AutoTopUpRow>(`${SELECT} AND is_enabled FOR UPDATE SKIP LOCKED`, [
    accountId,
  ])
  return row === undefined ? null : recordFromRow(row)
}

/** Writes everything. Call it with the row locked. */
export async function writeAutoTopUp(
  transaction: Queryable,
  accountId: string,
  { isEnabled, rules, card, ...state }: AutoTopUpRecord,
): Promise<void> {
  await transaction.query(WRITE, [
    accountId,
    card?.provider ?? null,
    card?.customerId ?? null,
    card?.methodId ?? null,
    card?.brand ?? null,
    card?.last4 ?? null,
    card?.expiryMonth ?? null,
    card?.expiryYear ?? null,
    card?.baseUrl ?? null,
    card === null ? null : new Date(card.savedAtMs),
    isEnabled,
    rules?.thresholdNanoUsd ?? null,
    rules?.amountNanoUsd ?? null,
    rules?.ceilingNanoUsd ?? null,
    state.failures,
    state.nextTryAtMs === null ? null : new Date(state.nextTryAtMs),
    state.problem,
    state.ceilingToldMonth,
  ])
}

const WRITE = `
  UPDATE auto_top_ups SET provider = $2, customer_id = $3, method_id = $4, brand = $5, last4 = $6, expiry_month = $7, expiry_year = $8,
    base_url = $9, saved_at = $10, is_enabled = $11, threshold_nano_usd = $12, amount_nano_usd = $13, ceiling_nano_usd = $14,
    failures = $15, next_try_at = $16, problem = $17, ceiling_told_month = $18::date, updated_at = now()
  WHERE account_id = $1`

function recordFromRow(row: AutoTopUpRow): AutoTopUpRecord {
  return {
    isEnabled: row.is_enabled,
    rules: rulesOf(row),
    card: cardOf(row),
    failures: row.failures,
    nextTryAtMs: row.next_try_at?.getTime() ?? null,
    problem: row.problem,
    ceilingToldMonth: row.ceiling_told_month,
  }
}

function rulesOf(row: AutoTopUpRow): TopUpRules | null {
  const { threshold_nano_usd: thresholdNanoUsd, amount_nano_usd: amountNanoUsd } = row
  const { ceiling_nano_usd: ceilingNanoUsd } = row
  if (thresholdNanoUsd === null || amountNanoUsd === null || ceilingNanoUsd === null) return null
  return { thresholdNanoUsd, amountNanoUsd, ceilingNanoUsd }
}

function cardOf(row: AutoTopUpRow): SavedCard | null {
  const { provider, customer_id: customerId, method_id: methodId, brand, last4, base_url: baseUrl } = row
  if (provider === null || customerId === null || methodId === null) return null
  if (brand === null || last4 === null || baseUrl === null || row.saved_at === null) return null
  return {
    provider,
    customerId,
    methodId,
    brand,
    last4,
    expiryMonth: row.expiry_month,
    expiryYear: row.expiry_year,
    baseUrl,
    savedAtMs: row.saved_at.getTime(),
  }
}
