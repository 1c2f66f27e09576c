import type { NanoUsd } from '../../kernel/money.ts'
import type { BorrowedRate, BorrowedRates } from '../../storage/borrowing/borrowed-rates.ts'
import type { BorrowedSlots, SlotShare } from '../../storage/borrowing/borrowed-slots.ts'
import type { Caller } from '../keys/keys.ts'
import { chooseTier, narrow, type LimitTable, type Tier } from './limit-table.ts'

export interface RateGate {
  readonly rate: BorrowedRate
  readonly perMinute: number
}

export interface SlotGate {
  readonly share: SlotShare
  readonly capacity: number
}

/** The limits that all keys of an account share. */
export interface AccountGate {
  readonly accountId: string
  readonly tier: Tier
  readonly spend: RateGate | null
  readonly slots: SlotGate | null
  /** For refused bodies of all keys. Opened by the first one. */
  readonly refused: () => RateGate | null
  /** The average duration of a request, to estimate when a slot becomes free. */
  averageMs: number
  /** True if the account has moved to another tier and therefore has a new gate. */
  isLeft: boolean
}

/** All limits that apply to requests of one key for one model category. */
export interface KeyGate {
  readonly account: AccountGate
  readonly requestsPerMinute: number | null
  readonly requests: RateGate | null
  /** The limit of the parent key, which applies to both keys together. */
  readonly parentRequests: RateGate | null
  readonly parentRequestsPerMinute: number | null
  readonly tokens: RateGate | null
  /** Set if the model category has a narrower limit. */
  readonly categoryRequests: RateGate | null
  readonly categorySlots: SlotGate | null
  /** When to check the balance again. */
  checkAtMs: number
}

/** The balances of accounts. */
export interface Balances {
  /** The balance that this process knows. It is lower than the real one while credit is in transfer. */
  readonly knownOf: (accountId: string) => NanoUsd | undefined
  readonly read: (accountId: string) => Promise<NanoUsd>
}

export interface Gates {
  /** Returns synchronously while the known balance is enough for the account's tier. */
  open(caller: Caller, category: string, nowMs: number): KeyGate | Promise<KeyGate>
  /** Returns the tier without a request. */
  tierOf(accountId: string): Tier | Promise<Tier>
}

interface GatesOptions {
  readonly table: LimitTable
  /** The name of the tier that the operator has set for an account. */
  readonly tierSetFor: (accountId: string) => string | undefined
  readonly rates: BorrowedRates
  readonly slots: BorrowedSlots
  readonly balances: Balances
}

const CHECK_EVERY_MS = 500
const GATES_MAX = 20_000

/** Finds the limits of a key, and updates them when its account changes its tier. */
export function createGates({ table, tierSetFor, rates, slots, balances }: GatesOptions): Gates {
  const byName = new Map(table.tiers.map((tier) => [tier.name, tier]))
  const byCategory = new Map<string, Map<string, KeyGate>>()
  const accounts = new Map<string, AccountGate>()
  const readBalance = shareReads(balances.read)

  /** A name that is no longer in the table counts as not set. */
  const findSetTier = (accountId: string): Tier | undefined => {
    const name = tierSetFor(accountId)
    return name === undefined ? undefined : byName.get(name)
  }

  const tierFor = (accountId: string, balance: NanoUsd): Tier =>
    findSetTier(accountId) ?? chooseTier(table.tiers, balance)

  const openAccount = (accountId: string, balance: NanoUsd): AccountGate => {
    const tier = tierFor(accountId, balance)
    const known = accounts.get(accountId)
    if (known?.tier === tier) return known
    const { spendNanoUsdPerMinute: spend, concurrentRequests: capacity, requestsPerMinute } = tier
    const account = {
      accountId,
      tier,
      spend: spend === null ? null : openRate(rates, `tenant:${accountId}:spend`, Number(spend)),
      slots: capacity === null ? null : openSlots(slots, `tenant:${accountId}`, capacity),
      refused: () =>
        requestsPerMinute === null ? null : openRate(rates, `tenant:${accountId}:refused`, requestsPerMinute),
      averageMs: known?.averageMs ?? 0,
      isLeft: false,
    }
    if (known) known.isLeft = true
    remember(accounts, accountId, account)
    return account
  }

  const build = (caller: Caller, category: string, balance: NanoUsd, nowMs: number): KeyGate => {
    const account = openAccount(caller.accountId, balance)
    const { tier } = account
    const share = table.categories.get(category) ?? 1
    const perMinute = narrowest(tier.requestsPerMinute, caller.requestsPerMinute)
    const key = `key:${caller.keyId}`
    return {
      account,
      requestsPerMinute: caller.requestsPerMinute,
      requests: perMinute === null ? null : openRate(rates, `${key}:requests`, perMinute),
      parentRequests: openParentRate(rates, caller, tier),
      parentRequestsPerMinute: caller.parent?.requestsPerMinute ?? null,
      tokens: tier.tokensPerMinute === null ? null : openRate(rates, `${key}:tokens`, tier.tokensPerMinute),
      categoryRequests:
        share === 1 || tier.requestsPerMinute === null
          ? null
          : openRate(rates, `${key}:${category}`, narrow(tier.requestsPerMinute, share)),
      categorySlots:
        share === 1 || tier.concurrentRequests === null
          ? null
          : openSlots(
              slots,
              `tenant:${caller.accountId}:${category}`,
              narrow(tier.concurrentRequests, share),
            ),
      checkAtMs: nowMs + CHECK_EVERY_MS,
    }
  }

  return {
    open(caller, category, nowMs) {
      const gates = byCategory.get(category) ?? new Map<string, KeyGate>()
      const known = gates.get(caller.keyId)
      const isCurrent =
        known?.requestsPerMinute === caller.requestsPerMinute &&
        known.parentRequestsPerMinute === (caller.parent?.requestsPerMinute ?? null)
      if (known && isCurrent && nowMs < known.checkAtMs) return known
      byCategory.set(category, gates)
      const renew = (balance: NanoUsd): KeyGate => {
        if (known && isCurrent && tierFor(caller.accountId, balance) === known.account.tier) {
          known.checkAtMs = nowMs + CHECK_EVERY_MS
          return known
        }
        const gate = build(caller, category, balance, nowMs)
        remember(gates, caller.keyId, gate)
        return gate
      }
      if (findSetTier(caller.accountId) !== undefined) return renew(0n)
      const account = known && !known.account.isLeft ? known.account : accounts.get(caller.accountId)
      const tier = account?.tier
      const balance = balances.knownOf(caller.accountId)
      // Local knowledge alone never lowers the tier.
      if (tier && balance !== undefined && reaches(table, balance, tier)) return renew(balance)
      const renewed = readBalance(caller.accountId).then(renew)
      // The account keeps its tier until its balance has been read.
      if (known === undefined || !isCurrent) return renewed
      known.checkAtMs = nowMs + CHECK_EVERY_MS
      renewed.catch(() => {})
      return known
    },
    tierOf(accountId) {
      const setTier = findSetTier(accountId)
      if (setTier !== undefined) return setTier
      const tier = accounts.get(accountId)?.tier
      const balance = balances.knownOf(accountId)
      if (tier && balance !== undefined && reaches(table, balance, tier))
        return chooseTier(table.tiers, balance)
      return readBalance(accountId).then((read) => chooseTier(table.tiers, read))
    },
  }
}

/** Concurrent reads of one account share one query. */
function shareReads(read: Balances['read']): Balances['read'] {
  const running = new Map<string, Promise<NanoUsd>>()
  return (accountId) => {
    const known = running.get(accountId)
    if (known) return known
    const balance = read(accountId).finally(() => running.delete(accountId))
    running.set(accountId, balance)
    return balance
  }
}

function reaches({ tiers }: LimitTable, balance: NanoUsd, tier: Tier): boolean {
  return chooseTier(tiers, balance).balanceNanoUsd >= tier.balanceNanoUsd
}

function openRate(rates: BorrowedRates, id: string, perMinute: number): RateGate {
  return { rate: rates.rate(id, perMinute), perMinute }
}

/** Opens the same rate that the parent key itself uses. */
function openParentRate(rates: BorrowedRates, { parent = null }: Caller, tier: Tier): RateGate | null {
  if (parent === null || parent.requestsPerMinute === null) return null
  const perMinute = Math.min(parent.requestsPerMinute, tier.requestsPerMinute ?? Infinity)
  return openRate(rates, `key:${parent.keyId}:requests`, perMinute)
}

function openSlots(slots: BorrowedSlots, id: string, capacity: number): SlotGate {
  return { share: slots.share(id, capacity), capacity }
}

function narrowest(first: number | null, second: number | null): number | null {
  if (first === null || second === null) return first ?? second
  return Math.min(first, second)
}

// Evicts the oldest entry. If it is still in use, it is created again, and its borrowed parts are stored elsewhere.
function remember<Value>(known: Map<string, Value>, id: string, value: Value): void {
  known.delete(id)
  known.set(id, value)
  if (known.size <= GATES_MAX) return
  const [oldest] = known.keys()
  if (oldest !== undefined) known.delete(oldest)
}
