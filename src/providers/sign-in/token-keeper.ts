import type { Clock } from '../../kernel/clock.ts'

/** Something that signs requests for a while. */
export interface Expiring<Token> {
  readonly token: Token
  /** Null if it does not end. */
  readonly lifetimeMs: number | null
}

/** Keeps one token for all requests, and gets the next one before it ends. */
export interface TokenKeeper<Token> {
  take(): Promise<Token> | Token
  /**
   * A request was refused. Drops the token if the request had it and it is old enough to have ended early. Returns whether the next token
   * is another one.
   */
  forget(hadToken: (token: Token) => boolean): boolean
}

/** A token is renewed when this much is left, or a fifth of its lifetime if that is less. */
const RENEW_BEFORE_MS = 5 * 60_000
/** A request that is sent with it must still arrive. */
const END_MARGIN_MS = 5_000
/** How long a failed renewal is not repeated: while the old token is valid, and without one. */
const PAUSE_MS = 10_000
const FAILURE_MS = 1_000
/** A token that was just issued is not at fault if a request with it is refused. */
const FORGET_AFTER_MS = 60_000

interface Kept<Token> {
  readonly token: Token
  readonly gotAtMs: number
  readonly renewAtMs: number
  readonly endsAtMs: number
}

export function createTokenKeeper<Token>(
  get: () => Promise<Expiring<Token>>,
  clock: Pick<Clock, 'monotonicMs'>,
): TokenKeeper<Token> {
  let kept: Kept<Token> | null = null
  let renewal: Promise<Token> | null = null
  let failed: { readonly atMs: number; readonly error: unknown } | null = null

  const renew = (): Promise<Token> => {
    renewal ??= get()
      .then(({ token, lifetimeMs }) => {
        const gotAtMs = clock.monotonicMs()
        const lifeMs = lifetimeMs ?? Infinity
        const endsAtMs = gotAtMs + lifeMs - Math.min(END_MARGIN_MS, lifeMs / 2)
        const renewAtMs = Math.min(endsAtMs, gotAtMs + lifeMs - Math.min(RENEW_BEFORE_MS, lifeMs / 5))
        kept = { token, gotAtMs, renewAtMs, endsAtMs }
        failed = null
        return token
      })
      .catch((error: unknown) => {
        failed = { atMs: clock.monotonicMs(), error }
        throw error
      })
      .finally(() => {
        renewal = null
      })
    return renewal
  }

  return {
    take() {
      const nowMs = clock.monotonicMs()
      if (kept !== null && nowMs < kept.renewAtMs) return kept.token
      if (kept !== null && nowMs < kept.endsAtMs) {
        // The old token still works, so nobody waits, and a failure is nobody's.
        if (failed === null || nowMs - failed.atMs >= PAUSE_MS) renew().catch(() => {})
        return kept.token
      }
      if (failed !== null && nowMs - failed.atMs < FAILURE_MS) return Promise.reject(failed.error)
      return renew()
    },
    forget(hadToken) {
      // Of many requests that are refused at once, the first drops the token, and the others find none or the next one.
      if (kept === null || !hadToken(kept.token)) return true
      if (clock.monotonicMs() - kept.gotAtMs < FORGET_AFTER_MS) return false
      kept = null
      return true
    },
  }
}
