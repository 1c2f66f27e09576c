import type { Logger } from '../../kernel/logger.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { AllowanceOf, KeyGrant, KeyUse, LimitedKey } from '../../providers/connection/key-limits.ts'
import type { BorrowedRates } from '../../storage/borrowing/borrowed-rates.ts'
import type { Queryable } from '../../storage/database.ts'
import type { RateGate } from './gates.ts'
import { createKeySpend, type KeySpend } from './key-spend.ts'
import { RecentKeyUses, type RecentKeyUse } from './recent-key-uses.ts'
import { needRate, TAKEN, takeNeeds, type Need } from './take-needs.ts'

/** Keys of providers with limits, counted over all processes. */
export interface ProviderKeys {
  readonly allowanceOf: AllowanceOf
  /** What this process did with keys in the last minute. */
  listRecent(): readonly RecentKeyUse[]
  /** What was spent with keys today. */
  readSpent(keyIds: readonly string[]): Promise<ReadonlyMap<string, NanoUsd>>
  close(): Promise<void>
}

interface ProviderKeysOptions {
  readonly rates: BorrowedRates
  readonly database: Queryable
  readonly logger: Logger
}

export function createProviderKeys(options: ProviderKeysOptions): ProviderKeys {
  const parts = { rates: options.rates, spend: createKeySpend(options), recent: new RecentKeyUses() }
  return {
    allowanceOf: (key) => ({ take: (tokens) => take(parts, key, tokens) }),
    listRecent: () => parts.recent.list(),
    readSpent: (keyIds) => parts.spend.readNow(keyIds),
    close: () => parts.spend.close(),
  }
}

interface Parts {
  readonly rates: BorrowedRates
  readonly spend: KeySpend
  readonly recent: RecentKeyUses
}

/** A request that takes all tokens in advance would keep all others away until its answer has come. */
const ADVANCE_SHARE = 10

function take(parts: Parts, key: LimitedKey, tokens: number): KeyGrant | Promise<KeyGrant> {
  if (key.budgetNanoUsdPerDay === null) return takeRates(parts, key, tokens)
  const spent = parts.spend.known(key.id)
  if (spent !== null) return checkBudget(key.budgetNanoUsdPerDay, spent) ?? takeRates(parts, key, tokens)
  const { budgetNanoUsdPerDay } = key
  return parts.spend
    .read(key.id)
    .then((read) => checkBudget(budgetNanoUsdPerDay, read) ?? takeRates(parts, key, tokens))
}

/** Null while something of the budget is left. */
function checkBudget(
  budgetNanoUsd: NanoUsd,
  { spentNanoUsd, leftMs }: { readonly spentNanoUsd: NanoUsd; readonly leftMs: number },
): KeyGrant | null {
  return spentNanoUsd < budgetNanoUsd ? null : { isGranted: false, retryAfterMs: leftMs, isOfDay: true }
}

function takeRates(parts: Parts, key: LimitedKey, wanted: number): KeyGrant | Promise<KeyGrant> {
  const nowMs = performance.now()
  const requests = openRate(parts, key.id, 'requests', key.requestsPerMinute)
  const tokens = openRate(parts, key.id, 'tokens', key.tokensPerMinute)
  const inAdvance =
    tokens === null ? 0 : Math.max(1, Math.min(wanted, Math.floor(tokens.perMinute / ADVANCE_SHARE)))
  const grant = (): KeyGrant => ({ isGranted: true, use: useOf(parts, key, { tokens, inAdvance }) })
  const needs = [need(requests, 1, nowMs), need(tokens, inAdvance, nowMs)].filter((one) => one !== null)
  if (needs.every(({ isTaken }) => isTaken === TAKEN)) return grant()
  return takeNeeds(NO_STATES, needs).then((refusal) =>
    refusal === null
      ? grant()
      : { isGranted: false, retryAfterMs: refusal.retryAfterSeconds * 1000, isOfDay: false },
  )
}

const NO_STATES = { requestRate: () => null, tokenRate: () => null }

function need(gate: RateGate | null, units: number, nowMs: number): Need | null {
  if (gate === null) return null
  return needRate('provider_key', gate, units, nowMs, gate.rate.takeNow(units, gate.perMinute, nowMs))
}

function openRate(
  { rates }: Parts,
  keyId: string,
  unit: 'requests' | 'tokens',
  perMinute: number | null,
): RateGate | null {
  return perMinute === null
    ? null
    : { rate: rates.rate(`provider-key:${keyId}:${unit}`, perMinute), perMinute }
}

function useOf(
  { spend, recent }: Parts,
  { id, budgetNanoUsdPerDay }: LimitedKey,
  { tokens, inAdvance }: { readonly tokens: RateGate | null; readonly inAdvance: number },
): KeyUse {
  let hasEnded = false
  recent.note(id, { requests: 1, tokens: 0 })
  return {
    get isOpen() {
      return !hasEnded
    },
    end: (used) => {
      if (hasEnded) return
      hasEnded = true
      recent.note(id, { requests: 0, tokens: used.tokens })
      tokens?.rate.giveBack(inAdvance - used.tokens, performance.now())
      if (budgetNanoUsdPerDay !== null) spend.add(id, used.spentNanoUsd)
    },
  }
}
