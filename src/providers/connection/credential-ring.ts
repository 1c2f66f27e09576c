import type { Clock } from '../../kernel/clock.ts'
import { drawFor, hashText } from '../../kernel/rendezvous.ts'

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
  restsUntilMs: number
}

export function createCredentialRing(keys: readonly string[], { clock }: { clock: Clock }): CredentialRing {
  const ring: readonly Credential[] = [...new Set(keys)].map((key) => ({
    key,
    hash: hashText(key),
    restsUntilMs: -Infinity,
  }))
  let position = 0
  const [only] = ring
  return {
    size: ring.length,
    take(affinity) {
      if (only !== undefined && ring.length === 1) return only.key
      const wanted = affinity?.() ?? null
      const nowMs = clock.monotonicMs()
      const awake = wanted === null ? nextAwake(ring, position, nowMs) : mostWantedAwake(ring, wanted, nowMs)
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

/** Rendezvous hashing: while the preferred key rests, all requests with the same affinity use the same replacement. */
function mostWantedAwake(
  ring: readonly Credential[],
  affinity: number,
  nowMs: number,
): Credential | undefined {
  let chosen: Credential | undefined
  let highest = -1
  for (const credential of ring) {
    if (credential.restsUntilMs > nowMs) continue
    const draw = drawFor(affinity, credential.hash)
    if (draw <= highest) continue
    highest = draw
    chosen = credential
  }
  return chosen
}

function firstToWake(ring: readonly Credential[]): Credential | undefined {
  return ring.toSorted((one, other) => one.restsUntilMs - other.restsUntilMs)[0]
}
