import type { Clock } from '../../kernel/clock.ts'

export type Admission =
  | { readonly isAdmitted: true; readonly remaining: number; readonly resetSeconds: number }
  | { readonly isAdmitted: false; readonly retryAfterSeconds: number }

export interface RequestRate {
  /** Takes one request from the bucket of this key. */
  admit(bucketId: string, requestsPerMinute: number): Admission
}

const MINUTE_MS = 60_000
const BUCKETS_MAX = 100_000

interface Bucket {
  tokens: number
  refilledMs: number
}

/** A token bucket a key: a minute's worth may come at once, and comes back evenly. */
export function createRequestRate({ clock }: { clock: Clock }): RequestRate {
  const buckets = new Map<string, Bucket>()
  return {
    admit(bucketId, requestsPerMinute) {
      const nowMs = clock.nowMs()
      const msPerToken = MINUTE_MS / requestsPerMinute
      const known = buckets.get(bucketId)
      const bucket = known ?? { tokens: requestsPerMinute, refilledMs: nowMs }
      if (!known) remember(buckets, bucketId, bucket)
      const refill = Math.max(0, nowMs - bucket.refilledMs) / msPerToken
      bucket.tokens = Math.min(requestsPerMinute, bucket.tokens + refill)
      bucket.refilledMs = nowMs
      if (bucket.tokens < 1) {
        return { isAdmitted: false, retryAfterSeconds: Math.ceil(((1 - bucket.tokens) * msPerToken) / 1000) }
      }
      bucket.tokens -= 1
      return {
        isAdmitted: true,
        remaining: Math.floor(bucket.tokens),
        resetSeconds: Math.ceil(((requestsPerMinute - bucket.tokens) * msPerToken) / 1000),
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
