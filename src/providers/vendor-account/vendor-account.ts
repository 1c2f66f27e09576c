import type { NanoUsd } from '../../kernel/money.ts'
import { requestOnce } from '../connection/request-once.ts'
import type { NetworkPath } from '../connection/network-path.ts'

/** How what the vendor bills and what is left to spend are read, where the vendor has an API for it. */
export interface VendorAccount {
  /** Needs a key of an administrator, which cannot be one that requests are sent with. */
  readonly readCosts?: (question: CostQuestion) => Promise<BilledDay[]>
  /** With the key that requests are sent with. */
  readonly readBalance?: (access: AccountAccess) => Promise<VendorBalance>
}

export interface AccountAccess {
  /** As requests use it, without a slash at its end. */
  readonly baseUrl: string
  readonly key: string
  readonly path?: NetworkPath | undefined
}

export interface CostQuestion extends AccountAccess {
  /** The first day in UTC, such as 2026-10-01. */
  readonly from: string
  readonly days: number
}

/** What a vendor bills for one project or workspace, and one kind of work, on one day of UTC. */
export interface BilledItem {
  /** Null for the default one. */
  readonly project: string | null
  readonly item: string
  readonly billedNanoUsd: NanoUsd
}

export interface BilledDay {
  readonly day: string
  readonly items: readonly BilledItem[]
}

export interface VendorBalance {
  /** In whole units of the currency, for people. */
  readonly amount: number
  readonly currency: string
  /** The vendor says that requests are refused. */
  readonly isExhausted: boolean
}

const ANSWER_MS_MAX = 30_000
const ANSWER_BYTES_MAX = 8 * 1024 ** 2
const DAY_MS = 86_400_000

/** Asks one page. Throws what people can act on, without the key. */
export async function askAccount(
  { path }: AccountAccess,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<unknown> {
  const { status, text } = await requestOnce({
    url,
    method: 'GET',
    headers,
    path,
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    bytesMax: ANSWER_BYTES_MAX,
  })
  if (status === 401 || status === 403)
    throw new Error(`it refuses the key with ${status}: it needs one of an administrator of the organisation`)
  if (status !== 200) throw new Error(`it answers ${status}`)
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('it answers no JSON')
  }
}

/** The day of UTC that begins so many days later. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS).toISOString().slice(0, 10)
}

/** Reads a decimal number, as text or as a number of JSON, in units of `10^-unitDigits` dollars. Rounds to the nearest nano-dollar. */
export function readAmount(value: unknown, unitDigits: number): NanoUsd {
  const match = /^(-?)(\d{1,12})(?:\.(\d{1,40}))?(?:e([+-]\d{1,2}))?$/i.exec(String(value))
  if (match === null || (typeof value !== 'string' && typeof value !== 'number'))
    throw new Error('it answers an amount that is no number')
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  // So many digits stand behind the nano-dollar.
  const surplus = fraction.length - Number(exponent) + unitDigits - 9
  const digits = BigInt(whole + fraction)
  const amount =
    surplus <= 0
      ? digits * 10n ** BigInt(-surplus)
      : (digits + 10n ** BigInt(surplus) / 2n) / 10n ** BigInt(surplus)
  return sign === '-' ? -amount : amount
}
