import { nanoUsdFromUsd, type NanoUsd } from '../../kernel/money.ts'
import type { StorageQuotas } from '../../storage/stored-bytes/stored-bytes.ts'

/** What an account may do at once and in a minute. Null sets no limit. */
export interface TierLimits {
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  readonly concurrentRequests: number | null
  readonly spendNanoUsdPerMinute: NanoUsd | null
  readonly storedBytesMax: StorageQuotas
}

export interface Tier extends TierLimits {
  readonly name: string
  /** From this balance on. */
  readonly balanceNanoUsd: NanoUsd
}

/** How many requests a local upstream works on at once, and how many wait for it. */
interface LocalModelLimits {
  /** By provider id, instead of what the provider has by default. */
  readonly slots: ReadonlyMap<string, number>
  readonly waitersMax: number
  readonly waitMsMax: number
}

/** What an address may do without a valid key. */
export interface UnauthenticatedLimits {
  /** Failed authentications a minute before its delays begin. */
  readonly failuresPerMinute: number
  /** The first delay is a second; each further one is twice as long, up to this. */
  readonly delaySecondsMax: number
  /** Of pages that need no key. */
  readonly requestsPerMinute: number
}

export interface LimitTable {
  /** From the poorest to the richest; the first one begins at nothing. */
  readonly tiers: readonly Tier[]
  /** The part of its tier's requests and concurrency that a kind of model may take; one where it is not named. */
  readonly categories: ReadonlyMap<string, number>
  readonly localModels: LocalModelLimits
  readonly strangers: UnauthenticatedLimits
}

const usd = (amount: number): NanoUsd => nanoUsdFromUsd(amount)

const GIGABYTE = 1_000_000_000

/** All kinds grow with the files. */
const quotas = (mediaGigabytes: number): StorageQuotas => ({
  media: mediaGigabytes * GIGABYTE,
  dataset: (mediaGigabytes * GIGABYTE) / 10,
  task: (mediaGigabytes * GIGABYTE) / 10,
  stored_response: (mediaGigabytes * GIGABYTE) / 10,
  response: (mediaGigabytes * GIGABYTE) / 10,
})

/** Of a tier that names none. */
export const DEFAULT_QUOTAS: StorageQuotas = quotas(10)

/** Generous: they keep one account from taking everything, and are there to be lowered. */
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
  // Work of seconds or minutes on hardware that few share.
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

/** The richest tier the balance reaches. A debt reaches the poorest. */
export function chooseTier(tiers: readonly Tier[], balanceNanoUsd: NanoUsd): Tier {
  const tier = tiers.findLast((candidate) => candidate.balanceNanoUsd <= balanceNanoUsd) ?? tiers[0]
  if (tier === undefined) throw new Error('a table of limits without tiers')
  return tier
}

/** What one kind of model gets of a limit: never less than one. */
export function narrow(limit: number, share: number): number {
  return Math.max(1, Math.floor(limit * share))
}
