import { createId } from '../../kernel/identifiers.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../../storage/database.ts'
import { noQuota, noRoomLeft, type QuotaOf } from '../../storage/stored-bytes/stored-bytes.ts'
import type { Place } from '../../storage/place.ts'
import { claimKey, hasEnded, type KeyPlace } from './claim-key.ts'
import { createClaims, type Claim } from './claims.ts'
import { deriveSecrets, hashKey, openAnswer, sealAnswer, type KeptAnswer } from './seal-answer.ts'
import { limitConcurrency } from './limit-concurrency.ts'
import { sweepExpired } from './sweep-expired.ts'

export type { Claim } from './claims.ts'
export type { KeptAnswer } from './seal-answer.ts'

/** A request that must be executed once, however often it is sent. */
export interface KeyedRequest {
  readonly place: Place
  /** The client's idempotency key. */
  readonly key: string
  readonly method: string
  /** Includes the query. */
  readonly url: string
  readonly body: string | Buffer
  readonly requestId: string
}

export type ClaimOutcome =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'answered'; readonly answer: KeptAnswer; readonly requestId: string }
  /** The request was executed, but its answer was too large to store. */
  | { readonly kind: 'unkept'; readonly requestId: string }
  | { readonly kind: 'running'; readonly runningMs: number }
  /** The key was used for another request. */
  | { readonly kind: 'reused' }

export interface Idempotency {
  /** Throws if the account's quota for stored answers is used up. Answers that are already stored are still returned. */
  claim(request: KeyedRequest): Promise<ClaimOutcome>
  /** Whether a request with this key has ended, so that a repeated one does nothing new. */
  hasEnded(place: Place, key: string): Promise<boolean>
  /** Deletes expired rows. Also runs periodically. */
  sweep(): Promise<number>
  /** Call it after all requests have ended. */
  close(): Promise<void>
}

export interface IdempotencyOptions {
  readonly database: Database
  readonly logger: Logger
  /** How long a key is remembered. */
  readonly retentionMs?: number
  /** How long a run counts as alive after its last renewal. */
  readonly leaseMs?: number
  readonly quotaOf?: QuotaOf
}

const RETENTION_MS = 24 * 60 * 60_000
const LEASE_MS = 20_000
const SWEEP_INTERVAL_MS = 60_000
/** Replayed requests bypass the rate limits. These limits keep them from taking all database connections. */
const STATEMENTS_RUNNING_MAX = 3
const STATEMENTS_WAITING_MAX = 1_000

/**
 * Stores keys and answers in the database, which all processes share. Uses the time of the database, because the clocks of
 * machines differ.
 */
export function createIdempotency(options: IdempotencyOptions): Idempotency {
  const { database, logger, retentionMs = RETENTION_MS, leaseMs = LEASE_MS, quotaOf = noQuota } = options
  const claims = createClaims({ database, logger, leaseMs })
  const limited = limitConcurrency({
    runningMax: STATEMENTS_RUNNING_MAX,
    waitingMax: STATEMENTS_WAITING_MAX,
  })
  const sweep = (): Promise<number> => sweepExpired(database)
  const requireQuota = async (claim: Claim, accountId: string, usedBytes: number): Promise<void> => {
    const bytesMax = usedBytes === 0 ? null : await quotaOf(accountId, 'stored_response')
    if (bytesMax === null || usedBytes < bytesMax) return
    await claim.release()
    throw noRoomLeft('stored_response', { usedBytes, bytesMax })
  }
  const timer = setInterval(() => {
    sweep().catch((error: unknown) =>
      logger.warn({ err: error }, 'expired idempotency keys were not deleted'),
    )
  }, SWEEP_INTERVAL_MS)
  timer.unref()

  return {
    async claim(request) {
      const { keyHash, fingerprint, sealingKey } = await deriveSecrets(request)
      // A run that is alive in this process is not taken over, even if its lease in the database could not be renewed.
      const running = claims.find(keyHash)
      if (running) {
        if (!running.fingerprint.equals(fingerprint)) return { kind: 'reused' }
        return { kind: 'running', runningMs: performance.now() - running.startedMs }
      }
      const { requestId } = request
      const { accountId } = request.place
      const place: KeyPlace = { accountId, keyHash, fingerprint, runId: createId() }
      const found = await limited(() => claimKey(database, { place, requestId, leaseMs, retentionMs }))
      if (found.kind === 'claimed') {
        const seal = (answer: KeptAnswer): Promise<Buffer> => sealAnswer(answer, sealingKey)
        const claim = claims.begin(place, found.requestId, seal)
        // A run that takes over was checked when it first began, and may already have been executed.
        if (found.requestId === requestId) await requireQuota(claim, accountId, found.storedBytes)
        return { kind: 'claimed', claim }
      }
      if (found.kind !== 'answered') return found
      try {
        const answer = await openAnswer(found.sealed, sealingKey)
        return { kind: 'answered', answer, requestId: found.requestId }
      } catch (error) {
        logger.error({ err: error, requestId: found.requestId }, 'a kept answer cannot be read')
        return { kind: 'unkept', requestId: found.requestId }
      }
    },

    hasEnded: (place, key) =>
      limited(() => hasEnded(database, { accountId: place.accountId, keyHash: hashKey(place, key) })),

    sweep,

    async close() {
      clearInterval(timer)
      await claims.close()
    },
  }
}
