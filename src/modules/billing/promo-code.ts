import { randomInt } from 'node:crypto'
import type { NanoUsd } from '../../kernel/money.ts'

/** A code that grants credit to the accounts that redeem it. */
export interface PromoCode {
  readonly id: string
  readonly code: string
  readonly amountNanoUsd: NanoUsd
  /** The days from redemption to the expiry of the credit; null for no expiry. */
  readonly creditDays: number | null
  readonly expiresAtMs: number | null
  /** Null for no limit. */
  readonly redemptionsMax: number | null
  readonly redemptionsPerAccountMax: number
  readonly redemptions: number
  readonly disabledAtMs: number | null
  readonly createdAtMs: number
}

export interface PromoCodeRow {
  readonly id: string
  readonly code: string
  readonly amount_nano_usd: bigint
  readonly credit_days: number | null
  readonly expires_at: Date | null
  readonly redemptions_max: number | null
  readonly redemptions_per_account_max: number
  readonly redemptions: number
  readonly disabled_at: Date | null
  readonly created_at: Date
}

export const PROMO_CODE_COLUMNS = `id, code, amount_nano_usd, credit_days, expires_at, redemptions_max,
  redemptions_per_account_max, redemptions, disabled_at, created_at`

export function promoCodeFromRow(row: PromoCodeRow): PromoCode {
  return {
    id: row.id,
    code: row.code,
    amountNanoUsd: row.amount_nano_usd,
    creditDays: row.credit_days,
    expiresAtMs: row.expires_at?.getTime() ?? null,
    redemptionsMax: row.redemptions_max,
    redemptionsPerAccountMax: row.redemptions_per_account_max,
    redemptions: row.redemptions,
    disabledAtMs: row.disabled_at?.getTime() ?? null,
    createdAtMs: row.created_at.getTime(),
  }
}

/** Whether it can be redeemed now. */
export function isRedeemable(code: PromoCode, nowMs: number): boolean {
  const isLeft = code.redemptionsMax === null || code.redemptions < code.redemptionsMax
  const isCurrent = code.expiresAtMs === null || nowMs < code.expiresAtMs
  return code.disabledAtMs === null && isCurrent && isLeft
}

/** Ignores case and surrounding spaces, which vary when codes are typed. */
export function normaliseCode(text: string): string {
  return text.trim().toUpperCase()
}

// Without characters that look alike.
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const GROUPS = 4
const GROUP_LENGTH = 4

/** Eighty random bits, so that codes cannot be guessed. */
export function generateCode(): string {
  const group = (): string =>
    Array.from({ length: GROUP_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('')
  return Array.from({ length: GROUPS }, group).join('-')
}
