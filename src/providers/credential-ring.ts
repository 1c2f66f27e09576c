import type { Clock } from '../kernel/clock.ts'

/** Several API keys of one upstream, taken in turn. */
export interface CredentialRing {
  readonly size: number
  /** The next key that is not resting. When all rest, the one that wakes first: one refusal more beats none tried. */
  take(): string
  /** Leaves a key out for a while, because the upstream refused or throttled it. */
  rest(key: string, restMs: number): void
}

export function createCredentialRing(keys: readonly string[], { clock }: { clock: Clock }): CredentialRing {
  const ring = [...new Set(keys)].map((key) => ({ key, restsUntilMs: -Infinity }))
  let position = 0
  return {
    size: ring.length,
    take() {
      const nowMs = clock.monotonicMs()
      let chosen: { key: string; restsUntilMs: number } | undefined
      for (let step = 0; step < ring.length; step += 1) {
        const candidate = ring[(position + step) % ring.length]
        if (candidate === undefined) continue
        if (chosen === undefined || candidate.restsUntilMs < chosen.restsUntilMs) chosen = candidate
        if (chosen.restsUntilMs <= nowMs) break
      }
      if (chosen === undefined) throw new RangeError('a credential ring without a key cannot be taken from')
      position = (ring.indexOf(chosen) + 1) % ring.length
      return chosen.key
    },
    rest(key, restMs) {
      const entry = ring.find((candidate) => candidate.key === key)
      if (entry === undefined) return
      entry.restsUntilMs = Math.max(entry.restsUntilMs, clock.monotonicMs() + restMs)
    },
  }
}
