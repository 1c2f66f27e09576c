import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../kernel/app-error.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../../storage/database.ts'
import type { KeyPlace } from './claim-key.ts'
import type { KeptAnswer } from './seal-answer.ts'

/** The claim to execute a request. The owner must end it by calling one of the four methods once. */
export interface Claim {
  /** The id of the first run if this one takes over, so that everything that is idempotent by this id happens once. */
  readonly requestId: string
  /** Rejects if the answer is not stored yet. While the database is unavailable, storing is retried in the background. */
  keep(answer: KeptAnswer): Promise<void>
  keepNothing(): Promise<void>
  /** The outcome is unknown. The next request takes over immediately, under the same request id. */
  interrupt(): Promise<void>
  /** The request ended without an answer to replay. The next request is independent. */
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
  /** Returns the run of this process under the key. */
  find(keyHash: Buffer): RunningClaim | undefined
  begin(place: KeyPlace, requestId: string, seal: (answer: KeptAnswer) => Promise<Buffer>): Claim
  /** Waits for running writes. Runs that have not ended are left to their leases. */
  close(): Promise<void>
}

const RENEWALS_PER_LEASE = 4
/**
 * How long, and with how many bytes in total, answers wait for an unavailable database. Beyond that, a repeated request does the
 * work again.
 */
const KEEP_MS_MAX = 60_000
const WAITING_BYTES_MAX = 64 * 1024 * 1024
const KEEP_PAUSE_MS = 500

/** Tracks the runs of this process and renews all their leases in one statement. */
export function createClaims({ database, logger, leaseMs }: ClaimsOptions): Claims {
  const running = new Map<string, RunningClaim>()
  const writing = new Set<Promise<unknown>>()
  const closing = new AbortController()
  let waitingBytes = 0

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

  const track = async (written: Promise<unknown>): Promise<void> => {
    writing.add(written)
    try {
      await written
    } finally {
      writing.delete(written)
    }
  }

  // If the write fails, the lease is not renewed either, so that the next request takes over when it expires.
  const conclude = (place: KeyPlace, write: () => Promise<unknown>): Promise<void> => {
    running.delete(nameOf(place.keyHash))
    return track(write())
  }

  /** Until the answer is stored, this process reports the request as still running. */
  const keepLater = async (write: () => Promise<unknown>, requestId: string): Promise<void> => {
    const untilMs = performance.now() + KEEP_MS_MAX
    for (;;) {
      await delay(KEEP_PAUSE_MS, undefined, { signal: closing.signal, ref: false }).catch(() => {})
      try {
        await write()
        return
      } catch (error) {
        const isLast = closing.signal.aborted || performance.now() > untilMs || !isPassing(error)
        if (!isLast) continue
        logger.warn({ err: error, requestId }, 'an answer was not kept: the same request does its work again')
        return
      }
    }
  }

  const keep = async (place: KeyPlace, requestId: string, sealed: Buffer): Promise<void> => {
    const name = nameOf(place.keyHash)
    const write = () => database.query(KEEP, [...valuesOf(place), sealed])
    try {
      await track(write())
      running.delete(name)
    } catch (error) {
      if (!isPassing(error) || waitingBytes + sealed.length > WAITING_BYTES_MAX) {
        running.delete(name)
        throw error
      }
      waitingBytes += sealed.length
      const later = keepLater(write, requestId).finally(() => {
        waitingBytes -= sealed.length
        running.delete(name)
      })
      void track(later)
      throw error
    }
  }

  return {
    find: (keyHash) => running.get(nameOf(keyHash)),

    begin(place, requestId, seal) {
      running.set(nameOf(place.keyHash), { ...place, startedMs: performance.now() })
      const values = valuesOf(place)
      return {
        requestId,
        keep: async (answer) => keep(place, requestId, await seal(answer)),
        keepNothing: () => conclude(place, () => database.query(KEEP_NOTHING, values)),
        interrupt: () => conclude(place, () => database.query(INTERRUPT, values)),
        release: () => conclude(place, () => database.query(RELEASE, values)),
      }
    },

    async close() {
      clearInterval(timer)
      closing.abort()
      await Promise.allSettled(writing)
    },
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof AppError && error.code === 'service_unavailable'
}

function valuesOf({ accountId, keyHash, runId }: KeyPlace): unknown[] {
  return [accountId, keyHash, runId]
}

function nameOf(keyHash: Buffer): string {
  return keyHash.toString('base64')
}

const OWN_ROW = 'account_id = $1 AND key_hash = $2 AND run_id = $3'
const KEEP = `UPDATE idempotency_keys SET answer = $4 WHERE ${OWN_ROW}`
const KEEP_NOTHING = `UPDATE idempotency_keys SET is_unkept = true WHERE ${OWN_ROW}`
const INTERRUPT = `UPDATE idempotency_keys SET lease_until = now() WHERE ${OWN_ROW}`
const RELEASE = `DELETE FROM idempotency_keys WHERE ${OWN_ROW}`

// Locks rows in one order, so that two processes do not deadlock.
const RENEW = `
  WITH alive AS (
    SELECT kept.account_id, kept.key_hash
    FROM unnest($1::uuid[], $2::bytea[], $3::uuid[]) AS mine (account_id, key_hash, run_id)
    JOIN idempotency_keys AS kept USING (account_id, key_hash, run_id)
    ORDER BY 1, 2 FOR NO KEY UPDATE OF kept
  )
  UPDATE idempotency_keys AS kept SET lease_until = now() + $4 * interval '1 millisecond'
  FROM alive WHERE kept.account_id = alive.account_id AND kept.key_hash = alive.key_hash`
