import type { NanoUsd } from '../../kernel/money.ts'

/** What an operator lets the gateway use of one key. Null: no limit. */
export interface KeyLimits {
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  /** Of a day in UTC. */
  readonly budgetNanoUsdPerDay: NanoUsd | null
}

export const NO_KEY_LIMITS: KeyLimits = {
  requestsPerMinute: null,
  tokensPerMinute: null,
  budgetNanoUsdPerDay: null,
}

/** The limits of a key under the name by which all processes count it. */
export interface LimitedKey extends KeyLimits {
  readonly id: string
}

/** What one request did with a key. */
export interface KeyUsed {
  readonly tokens: number
  readonly spentNanoUsd: NanoUsd
}

export const NOTHING_USED: KeyUsed = { tokens: 0, spentNanoUsd: 0n }

/** One request of a key with limits. */
export interface KeyUse {
  /** Until `end` is called. A use whose key was refused ends before its request does. */
  readonly isOpen: boolean
  /** Corrects what was taken in advance. Only the first call counts. */
  end(used: KeyUsed): void
}

export type KeyGrant =
  | { readonly isGranted: true; readonly use: KeyUse }
  /** `isOfDay`: its budget is used up until the day ends. */
  | { readonly isGranted: false; readonly retryAfterMs: number; readonly isOfDay: boolean }

/** What a key may still take, over all processes. */
export interface KeyAllowance {
  /** Takes a request and some of its tokens. Returns at once if enough is known. Rejects if nothing can be known now. */
  take(tokens: number): KeyGrant | Promise<KeyGrant>
}

export type AllowanceOf = (key: LimitedKey) => KeyAllowance

/** How many tokens a request takes in advance: a rough count of its text. */
export function tokensInAdvance(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN)
}

const CHARACTERS_PER_TOKEN = 4

export function hasLimits({ requestsPerMinute, tokensPerMinute, budgetNanoUsdPerDay }: KeyLimits): boolean {
  return requestsPerMinute !== null || tokensPerMinute !== null || budgetNanoUsdPerDay !== null
}

/** Says that the limits of keys could not be read. Another route may have keys without limits. */
export const KEY_LIMITS_UNKNOWN = 'limits_of_keys_unknown'
