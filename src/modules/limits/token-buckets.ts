import type { Clock } from '../../kernel/clock.ts'

type Taken =
  | { readonly isTaken: true; readonly remaining: number; readonly resetSeconds: number }
  | { readonly isTaken: false; readonly retryAfterSeconds: number; readonly resetSeconds: number }

export interface TokenBuckets {
  /** Takes one token from the bucket of this name. */
  take(bucketId: string, tokensPerMinute: number): Taken
}

const MINUTE_MS = 60_000
const BUCKETS_MAX = 100_000

interface Bucket {
  tokens: number
  refilledMs: number
}

/** A minute's worth may be taken at once, and comes back evenly. */
export function createTokenBuckets({ clock }: { clock: Clock }): TokenBuckets {
  const buckets = new Map<string, Bucket>()
  return {
    take(bucketId, tokensPerMinute) {
      const nowMs = clock.nowMs()
      const msPerToken = MINUTE_MS / tokensPerMinute
      const known = buckets.get(bucketId)
      const bucket = known ?? { tokens: tokensPerMinute, refilledMs: nowMs }
      if (!known) remember(buckets, bucketId, bucket)
      const refill = Math.max(0, nowMs - bucket.refilledMs) / msPerToken
      bucket.tokens = Math.min(tokensPerMinute, bucket.tokens + refill)
      bucket.refilledMs = nowMs
      const secondsUntil = (tokens: number) => Math.ceil(((tokens - bucket.tokens) * msPerToken) / 1000)
      if (bucket.tokens < 1) {
        return {
          isTaken: false,
          retryAfterSeconds: secondsUntil(1),
          resetSeconds: secondsUntil(tokensPerMinute),
        }
      }
      bucket.tokens -= 1
      return {
        isTaken: true,
        remaining: Math.floor(bucket.tokens),
        resetSeconds: secondsUntil(tokensPerMinute),
      }
    },
  }
}

// The oldest goes first: at worst an idle key starts with a full bucket again.
function remember(buckets: Map<string, Bucket>, bucketId: string, bucket: Bucket): void {
  if (buckets.size >= BUCKETS_MAX) {
    const [oldest] = buckets.keys()
    if (oldest !== undefined) buckets.delete(oldest)
  }
  buckets.set(bucketId, bucket)
}
