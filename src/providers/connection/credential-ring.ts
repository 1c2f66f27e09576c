import type { Clock } from '../../kernel/clock.ts'
import { drawFor, hashText, scoreOf } from '../../kernel/rendezvous.ts'

/** Several API keys of one upstream. */
export interface CredentialRing {
  readonly size: number
  /**
   * Returns a key that is not resting: the same key for the same affinity, or the next key in turn without an affinity. If all
   * keys are resting, returns the one whose rest ends first, because it may work although it was refused before.
   */
  take(affinity?: () => number | null): string
  /** Excludes a key for a while after the upstream refused or throttled it. */
  rest(key: string, restMs: number): void
}

interface Credential {
  readonly key: string
  readonly hash: number
  readonly weight: number
  /** How far it is behind its share of the turns. */
  credit: number
  restsUntilMs: number
}

interface RingOptions {
  readonly clock: Clock
  /** The share of each key, in the order of the keys. All are equal without it. */
  readonly weights?: readonly number[] | undefined
}

export function createCredentialRing(
  keys: readonly string[],
  { clock, weights = [] }: RingOptions,
): CredentialRing {
  const ring: readonly Credential[] = [...new Set(keys)].map((key) => ({
    key,
    hash: hashText(key),
    weight: weights[keys.indexOf(key)] ?? 1,
    credit: 0,
    restsUntilMs: -Infinity,
  }))
  const isEven = ring.every(({ weight }) => weight === ring[0]?.weight)
  let position = 0
  const [only] = ring
  return {
    size: ring.length,
    take(affinity) {
      if (only !== undefined && ring.length === 1) return only.key
      const wanted = affinity?.() ?? null
      const nowMs = clock.monotonicMs()
      const awake =
        wanted !== null
          ? mostWantedAwake(ring, wanted, nowMs)
          : isEven
            ? nextAwake(ring, position, nowMs)
            : nextByWeight(ring, nowMs)
      const chosen = awake ?? firstToWake(ring)
      if (chosen === undefined) throw new RangeError('a credential ring without a key cannot be taken from')
      if (wanted === null) position = (ring.indexOf(chosen) + 1) % ring.length
      return chosen.key
    },
    rest(key, restMs) {
      const entry = ring.find((candidate) => candidate.key === key)
      if (entry === undefined) return
      entry.restsUntilMs = Math.max(entry.restsUntilMs, clock.monotonicMs() + restMs)
    },
  }
}

function nextAwake(ring: readonly Credential[], position: number, nowMs: number): Credential | undefined {
  for (let step = 0; step < ring.length; step += 1) {
    const credential = ring[(position + step) % ring.length]
    if (credential !== undefined && credential.restsUntilMs <= nowMs) return credential
  }
  return undefined
}

/** Gives each key that is awake its share of the turns, evenly spread: the one that is furthest behind comes next. */
function nextByWeight(ring: readonly Credential[], nowMs: number): Credential | undefined {
  const awake = ring.filter(({ restsUntilMs }) => restsUntilMs <= nowMs)
  let chosen: Credential | undefined
  let total = 0
  for (const credential of awake) {
    credential.credit += credential.weight
    total += credential.weight
    if (chosen === undefined || credential.credit > chosen.credit) chosen = credential
  }
  if (chosen !== undefined) chosen.credit -= total
  return chosen
}

/** Rendezvous hashing: while the preferred key rests, all requests with the same affinity use the same replacement. */
function mostWantedAwake(
  ring: readonly Credential[],
  affinity: number,
  nowMs: number,
): Credential | undefined {
  let chosen: Credential | undefined
  let highest = -Infinity
  for (const credential of ring) {
    if (credential.restsUntilMs > nowMs) continue
    const score = scoreOf(drawFor(affinity, credential.hash), credential.weight)
    if (score <= highest) continue
    highest = score
    chosen = credential
  }
  return chosen
}

function firstToWake(ring: readonly Credential[]): Credential | undefined {
  return ring.toSorted((one, other) => one.restsUntilMs - other.restsUntilMs)[0]
}
