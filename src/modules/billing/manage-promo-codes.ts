import { AppError, invalidValue, notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Database } from '../../storage/database.ts'
import {
  generateCode,
  normaliseCode,
  PROMO_CODE_COLUMNS,
  promoCodeFromRow,
  type PromoCode,
  type PromoCodeRow,
} from './promo-code.ts'

export interface PromoCodeDraft {
  /** Null to generate one. */
  readonly code: string | null
  readonly amountNanoUsd: NanoUsd
  readonly creditDays: number | null
  readonly expiresAtMs: number | null
  readonly redemptionsMax: number | null
  readonly redemptionsPerAccountMax: number
}

export interface RedemptionRecord {
  /** The id of the payment in the account's history. */
  readonly id: string
  readonly accountId: string
  readonly accountName: string
  readonly amountNanoUsd: NanoUsd
  readonly redeemedAtMs: number
}

export async function createPromoCode(
  { database, clock }: { database: Database; clock: Clock },
  draft: PromoCodeDraft,
): Promise<PromoCode> {
  const nowMs = clock.nowMs()
  if (draft.amountNanoUsd <= 0n) throw invalidValue('amount_usd', 'amount_usd must be more than zero.')
  if (draft.expiresAtMs !== null && draft.expiresAtMs <= nowMs) {
    throw invalidValue('expires_at', 'expires_at must be in the future.')
  }
  const [row] = await database.query<PromoCodeRow>(
    `INSERT INTO promo_codes (id, code, amount_nano_usd, credit_days, expires_at, redemptions_max,
       redemptions_per_account_max, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (code) DO NOTHING RETURNING ${PROMO_CODE_COLUMNS}`,
    [
      createId(nowMs),
      normaliseCode(draft.code ?? generateCode()),
      draft.amountNanoUsd,
      draft.creditDays,
      draft.expiresAtMs === null ? null : new Date(draft.expiresAtMs),
      draft.redemptionsMax,
      draft.redemptionsPerAccountMax,
      new Date(nowMs),
    ],
  )
  if (row === undefined) throw new AppError('conflict', 'This code exists already.', { param: 'code' })
  return promoCodeFromRow(row)
}

/** Disables a code. A repeated call has no further effect. Redeemed credit is kept. */
export async function disablePromoCode(
  { database, clock }: { database: Database; clock: Clock },
  promoCodeId: string,
): Promise<PromoCode> {
  if (!isUuid(promoCodeId)) throw notFound('promo code')
  const [row] = await database.query<PromoCodeRow>(
    `UPDATE promo_codes SET disabled_at = coalesce(disabled_at, $2) WHERE id = $1 RETURNING ${PROMO_CODE_COLUMNS}`,
    [promoCodeId, new Date(clock.nowMs())],
  )
  if (row === undefined) throw notFound('promo code')
  return promoCodeFromRow(row)
}

export async function readPromoCode(database: Database, promoCodeId: string): Promise<PromoCode> {
  if (!isUuid(promoCodeId)) throw notFound('promo code')
  const [row] = await database.query<PromoCodeRow>(
    `SELECT ${PROMO_CODE_COLUMNS} FROM promo_codes WHERE id = $1`,
    [promoCodeId],
  )
  if (row === undefined) throw notFound('promo code')
  return promoCodeFromRow(row)
}

/** Returns promo codes, newest first. */
export async function listPromoCodes(
  database: Database,
  { limit, afterId }: PageRequest,
): Promise<Page<PromoCode>> {
  const [rows, [count]] = await Promise.all([
    database.query<PromoCodeRow>(
      `SELECT ${PROMO_CODE_COLUMNS} FROM promo_codes WHERE id < $1 ORDER BY id DESC LIMIT $2`,
      [afterId ?? ID_AFTER_ALL, limit + 1],
    ),
    database.query<{ total: bigint }>('SELECT count(*) AS total FROM promo_codes'),
  ])
  return {
    items: rows.slice(0, limit).map(promoCodeFromRow),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}

/** Returns redemptions, newest first. */
export async function listRedemptions(
  database: Database,
  promoCodeId: string,
  { limit, afterId }: PageRequest,
): Promise<Page<RedemptionRecord>> {
  const { id, redemptions } = await readPromoCode(database, promoCodeId)
  const rows = await database.query<RedemptionRow>(
    `SELECT payments.id, payments.account_id, accounts.name AS account_name, amount_nano_usd, payments.created_at
     FROM promo_redemptions JOIN payments ON payments.id = payment_id
     JOIN accounts ON accounts.id = payments.account_id
     WHERE promo_code_id = $1 AND payment_id < $2 ORDER BY payment_id DESC LIMIT $3`,
    [id, afterId ?? ID_AFTER_ALL, limit + 1],
  )
  return {
    items: rows.slice(0, limit).map((row) => ({
      id: row.id,
      accountId: row.account_id,
      accountName: row.account_name,
      amountNanoUsd: row.amount_nano_usd,
      redeemedAtMs: row.created_at.getTime(),
    })),
    total: redemptions,
    hasMore: rows.length > limit,
  }
}

interface RedemptionRow {
  readonly id: string
  readonly account_id: string
  readonly account_name: string
  readonly amount_nano_usd: bigint
  readonly created_at: Date
}
