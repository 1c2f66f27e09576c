import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../../storage/database.ts'
import type { KeyPlace } from './claim-key.ts'
import type { KeptAnswer } from './seal-answer.ts'

/** The right to do the request, and the duty to say how it ended. One of the four is called, once. */
export interface Claim {
  /** That of the first run where this one takes over: whatever is idempotent by it happens once. */
  readonly requestId: string
  keep(answer: KeptAnswer): Promise<void>
  keepNothing(): Promise<void>
  /** It may have been done or not: the next one takes over at once, under the same request id. */
  interrupt(): Promise<void>
  /** It ended and left nothing to repeat: the next one is a request of its own. */
  release(): Promise<void>
}

interface ClaimsOptions {
  readonly database: Database
  readonly logger: Logger
  readonly leaseMs: number
}

interface RunningClaim extends KeyPlace {
  readonly startedMs: number
}

interface Claims {
  /** What this process itself runs under the key. */
  find(keyHash: Buffer): RunningClaim | undefined
  begin(place: KeyPlace, requestId: string, seal: (answer: KeptAnswer) => Promise<Buffer>): Claim
  /** Waits for what is being written. What still runs is left to its lease. */
  close(): Promise<void>
}

const RENEWALS_PER_LEASE = 4

/** What this process runs at the moment under a key, said to be alive in one statement for all. */
export function createClaims({ database, logger, leaseMs }: ClaimsOptions): Claims {
  const running = new Map<string, RunningClaim>()
  const writing = new Set<Promise<unknown>>()

  const renew = async (): Promise<void> => {
    if (running.size === 0) return
    const places = [...running.values()]
    await database.query(RENEW, [
      places.map(({ accountId }) => accountId),
      places.map(({ keyHash }) => keyHash),
      places.map(({ runId }) => runId),
      leaseMs,
    ])
  }
  const timer = setInterval(() => {
    renew().catch((error: unknown) => logger.warn({ err: error }, 'idempotency keys in use were not renewed'))
  }, leaseMs / RENEWALS_PER_LEASE)
  timer.unref()

  // What cannot be written is not renewed either, so that the next request takes over when the lease has passed.
  const conclude = async (place: KeyPlace, write: () => Promise<unknown>): Promise<void> => {
    running.delete(nameOf(place.keyHash))
    const written = write()
    writing.add(written)
    try {
      await written
    } finally {
      writing.delete(written)
    }
  }

  return {
    find: (keyHash) => running.get(nameOf(keyHash)),

    begin(place, requestId, seal) {
      running.set(nameOf(place.keyHash), { ...place, startedMs: performance.now() })
      const values = [place.accountId, place.keyHash, place.runId]
      return {
        requestId,
        keep: (answer) => conclude(place, async () => database.query(KEEP, [...values, await seal(answer)])),
        keepNothing: () => conclude(place, () => database.query(KEEP_NOTHING, values)),
        interrupt: () => conclude(place, () => database.query(INTERRUPT, values)),
        release: () => conclude(place, () => database.query(RELEASE, values)),
      }
    },

    async close() {
      clearInterval(timer)
      await Promise.allSettled(writing)
    },
  }
}

function nameOf(keyHash: Buffer): string {
  return keyHash.toString('base64')
}

const OWN_ROW = 'account_id = $1 AND key_hash = $2 AND run_id = $3'
const KEEP = `UPDATE idempotency_keys SET answer = $4 WHERE ${OWN_ROW}`
const KEEP_NOTHING = `UPDATE idempotency_keys SET is_unkept = true WHERE ${OWN_ROW}`
const INTERRUPT = `UPDATE idempotency_keys SET lease_until = now() WHERE ${OWN_ROW}`
const RELEASE = `DELETE FROM idempotency_keys WHERE ${OWN_ROW}`

// Rows are locked in one order, so that two processes never wait for each other in a circle.
const RENEW = `
  WITH alive AS (
    SELECT kept.account_id, kept.key_hash
    FROM unnest($1::uuid[], $2::bytea[], $3::uuid[]) AS mine (account_id, key_hash, run_id)
    JOIN idempotency_keys AS kept USING (account_id, key_hash, run_id)
    ORDER BY 1, 2 FOR NO KEY UPDATE OF kept
  )
  UPDATE idempotency_keys AS kept SET lease_until = now() + $4 * interval '1 millisecond'
  FROM alive WHERE kept.account_id = alive.account_id AND kept.key_hash = alive.key_hash`
