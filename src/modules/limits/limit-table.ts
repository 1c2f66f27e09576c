import { nanoUsdFromUsd, type NanoUsd } from '../../kernel/money.ts'
import type { StorageQuotas } from '../../storage/stored-bytes/stored-bytes.ts'

/** The limits of an account. Null means no limit. */
export interface TierLimits {
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  readonly concurrentRequests: number | null
  readonly spendNanoUsdPerMinute: NanoUsd | null
  readonly storedBytesMax: StorageQuotas
}

export interface Tier extends TierLimits {
  readonly name: string
  /** The minimum balance of the tier. */
  readonly balanceNanoUsd: NanoUsd
}

/** The concurrency and the queue of local upstreams. */
interface LocalModelLimits {
  /** By provider id. Overrides the provider's default. */
  readonly slots: ReadonlyMap<string, number>
  readonly waitersMax: number
  readonly waitMsMax: number
}

/** The limits of an IP address without a valid key. */
export interface UnauthenticatedLimits {
  /** Failed authentications per minute before delays begin. */
  readonly failuresPerMinute: number
  /** The first delay is one second. Each further delay is twice as long, up to this limit. */
  readonly delaySecondsMax: number
  /** For pages that need no key. */
  readonly requestsPerMinute: number
}

export interface LimitTable {
  /** In ascending order of balance. The first tier starts at zero. */
  readonly tiers: readonly Tier[]
  /** The share of its tier's request and concurrency limits that a model category may use. The default is 1. */
  readonly categories: ReadonlyMap<string, number>
  readonly localModels: LocalModelLimits
  readonly strangers: UnauthenticatedLimits
}

const usd = (amount: number): NanoUsd => nanoUsdFromUsd(amount)

const GIGABYTE = 1_000_000_000

/** All quotas are derived from the quota for inputs and results. */
const quotas = (mediaGigabytes: number): StorageQuotas => ({
  media: mediaGigabytes * GIGABYTE,
  dataset: (mediaGigabytes * GIGABYTE) / 10,
  task: (mediaGigabytes * GIGABYTE) / 10,
  stored_response: (mediaGigabytes * GIGABYTE) / 10,
  response: (mediaGigabytes * GIGABYTE) / 10,
  file: mediaGigabytes * GIGABYTE,
})

/** The quotas of a tier that sets none. */
export const DEFAULT_QUOTAS: StorageQuotas = quotas(10)

/** Generous defaults: they keep one account from using everything, and operators can lower them. */
export const DEFAULT_LIMITS: LimitTable = {
  tiers: [
    {
      name: 'free',
      balanceNanoUsd: 0n,
      requestsPerMinute: 6_000,
      tokensPerMinute: 100_000_000,
      concurrentRequests: 256,
      spendNanoUsdPerMinute: usd(10),
      storedBytesMax: DEFAULT_QUOTAS,
    },
    {
      name: 'tier_1',
      balanceNanoUsd: usd(1),
      requestsPerMinute: 30_000,
      tokensPerMinute: 500_000_000,
      concurrentRequests: 1_024,
      spendNanoUsdPerMinute: usd(50),
      storedBytesMax: quotas(50),
    },
    {
      name: 'tier_2',
      balanceNanoUsd: usd(20),
      requestsPerMinute: 120_000,
      tokensPerMinute: 2_000_000_000,
      concurrentRequests: 4_096,
      spendNanoUsdPerMinute: usd(200),
      storedBytesMax: quotas(200),
    },
    {
      name: 'tier_3',
      balanceNanoUsd: usd(200),
      requestsPerMinute: 600_000,
      tokensPerMinute: 10_000_000_000,
      concurrentRequests: 16_384,
      spendNanoUsdPerMinute: usd(2_000),
      storedBytesMax: quotas(1_000),
    },
    {
      name: 'tier_4',
      balanceNanoUsd: usd(2_000),
      requestsPerMinute: 6_000_000,
      tokensPerMinute: 100_000_000_000,
      concurrentRequests: 131_072,
      spendNanoUsdPerMinute: usd(20_000),
      storedBytesMax: quotas(10_000),
    },
  ],
  // Work of seconds or minutes on scarce hardware.
  categories: new Map([
    ['image', 0.1],
    ['upscale', 0.1],
    ['bg_remove', 0.1],
    ['music', 0.05],
    ['video', 0.02],
  ]),
  localModels: { slots: new Map(), waitersMax: 100, waitMsMax: 30_000 },
  strangers: { failuresPerMinute: 60, delaySecondsMax: 600, requestsPerMinute: 1_200 },
}

/** Returns the highest tier that the balance reaches. A negative balance gets the lowest tier. */
export function chooseTier(tiers: readonly Tier[], balanceNanoUsd: NanoUsd): Tier {
  const tier = tiers.findLast((candidate) => candidate.balanceNanoUsd <= balanceNanoUsd) ?? tiers[0]
  if (tier === undefined) throw new Error('a table of limits without tiers')
  return tier
}

/** Returns a category's share of a limit, at least 1. */
export function narrow(limit: number, share: number): number {
  return Math.max(1, Math.floor(limit * share))
}
