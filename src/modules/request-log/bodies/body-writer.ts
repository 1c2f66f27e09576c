import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from '../../../kernel/logger.ts'
import type { Sealer } from '../../../kernel/seal-text.ts'
import type { Database } from '../../../storage/database.ts'
import type { SealedColumn } from '../../../storage/sealed-columns.ts'
import type { BodyPolicies, BodyPolicy } from './body-policies.ts'
import { prepareBody } from './prepare-body.ts'

/** The bodies of a request that has ended, as far as they were captured. */
export interface CapturedBodies {
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  readonly request: string
  readonly answer: readonly Buffer[]
  /** Of what was sent. */
  readonly requestBytes: number
  readonly answerBytes: number
}

interface BodyLimits {
  /** Of each stored body, before it is compressed. */
  readonly bodyBytesMax: number
  /** Of all stored bodies of an account, compressed. */
  readonly accountBytesMax: number
}

type DropReason = 'body_queue_full' | 'body_account_full' | 'body_database'

export interface BodyWriterOptions extends BodyLimits {
  readonly database: Database
  readonly logger: Logger
  readonly sealer: Sealer
  readonly policies: Pick<BodyPolicies, 'find'>
  readonly onDropped: (reason: DropReason, count: number) => void
}

const QUEUE_MAX = 2_000
const QUEUE_BYTES_MAX = 64 * 1024 * 1024
const FLUSH_INTERVAL_MS = 500
const SWEEP_INTERVAL_MS = 60_000
const BATCH_ROWS = 500
const BATCHES_MAX = 100
/** A full account keeps this part of its newest bodies. */
const PART_KEPT = 0.9

/** Stores bodies after their answers were sent, one after the other, and deletes those that have expired. */
export class BodyWriter {
  /** What is written belongs to all accounts, and not to the reader that asked for it. */
  readonly #runForAll = AsyncLocalStorage.snapshot()
  readonly #options: BodyWriterOptions
  readonly #timers: readonly NodeJS.Timeout[]
  #queue: CapturedBodies[] = []
  #queuedBytes = 0
  #writing: Promise<void> = Promise.resolve()

  constructor(options: BodyWriterOptions) {
    this.#options = options
    const sweep = (): void => {
      this.sweep().catch((error: unknown) =>
        options.logger.warn({ err: error }, 'expired bodies were not deleted'),
      )
    }
    this.#timers = [
      setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref(),
      setInterval(sweep, SWEEP_INTERVAL_MS).unref(),
    ]
  }

  note(bodies: CapturedBodies): void {
    const bytes = sizeOf(bodies)
    if (this.#queue.length >= QUEUE_MAX || this.#queuedBytes + bytes > QUEUE_BYTES_MAX) {
      this.#options.onDropped('body_queue_full', 1)
      return
    }
    this.#queue.push(bodies)
    this.#queuedBytes += bytes
  }

  /** Resolves when all bodies noted before are stored or dropped. */
  flush(): Promise<void> {
    if (this.#queue.length > 0) {
      const batch = this.#queue
      this.#queue = []
      const writeAll = async (): Promise<void> => {
        for (const bodies of batch) {
          await this.#write(bodies)
          this.#queuedBytes -= sizeOf(bodies)
        }
      }
      this.#writing = this.#runForAll(() => this.#writing.then(writeAll))
    }
    return this.#writing
  }

  /** Deletes bodies that have expired, those of revoked keys, and the oldest ones of accounts that are full. */
  async sweep(): Promise<void> {
    const { database, accountBytesMax } = this.#options
    for (const statement of [DELETE_EXPIRED, DELETE_REVOKED])
      for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
        const deleted = await database.query(statement, [BATCH_ROWS])
        if (deleted.length < BATCH_ROWS) break
      }
    const keptBytes = Math.floor(accountBytesMax * PART_KEPT)
    const full = await database.query<{ account_id: string }>(FIND_FULL, [keptBytes])
    for (const { account_id: accountId } of full) await database.query(DELETE_OLDEST, [accountId, keptBytes])
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.flush()
  }

  async #write(bodies: CapturedBodies): Promise<void> {
    const { policies, onDropped, logger } = this.#options
    // It may have been switched off meanwhile.
    const policy = policies.find(bodies.accountId, bodies.keyId)
    if (policy === null) return
    try {
      if (!(await this.#insert(bodies, policy))) onDropped('body_account_full', 1)
    } catch (error) {
      onDropped('body_database', 1)
      logger.warn({ err: error }, 'bodies were not stored')
    }
  }

  /** Returns false if the account is full. */
  async #insert(bodies: CapturedBodies, { retentionDays }: BodyPolicy): Promise<boolean> {
    const { database, sealer, bodyBytesMax, accountBytesMax } = this.#options
    const { id, accountId, keyId, requestBytes, answerBytes } = bodies
    const answerText = Buffer.concat(bodies.answer).toString('utf8')
    const [request, answer] = await Promise.all([
      prepareBody(bodies.request, {
        sealer,
        place: placeOf(accountId, id, 'request'),
        bytesMax: bodyBytesMax,
        isPartial: Buffer.byteLength(bodies.request) < requestBytes,
      }),
      prepareBody(answerText, {
        sealer,
        place: placeOf(accountId, id, 'answer'),
        bytesMax: bodyBytesMax,
        isPartial: bodies.answer.reduce((sum, { length }) => sum + length, 0) < answerBytes,
      }),
    ])
    const [row] = await database.query<{ is_full: boolean }>(INSERT, [
      accountId,
      id,
      keyId,
      request.sealed,
      answer.sealed,
      requestBytes,
      answerBytes,
      request.isCut,
      answer.isCut,
      retentionDays,
      accountBytesMax - request.sealed.length - answer.sealed.length,
    ])
    return row?.is_full === false
  }
}

const sealedPart = (part: 'request' | 'answer'): SealedColumn => ({
  table: 'request_bodies',
  column: part,
  key: { account_id: 'uuid', id: 'uuid' },
  boundTo: ['account_id', 'id'],
  placeOf: (accountId, id) => placeOf(accountId, id, part),
})

export const SEALED_BODIES: readonly SealedColumn[] = [sealedPart('request'), sealedPart('answer')]

/** Ids with and without dashes are the same row. */
export function placeOf(accountId: string, id: string, part: 'request' | 'answer'): string {
  return `body of ${part} ${accountId} ${id.replaceAll('-', '')}`
}

function sizeOf({ request, answer }: CapturedBodies): number {
  return request.length + answer.reduce((sum, { length }) => sum + length, 0)
}

// Policies are checked once more in the database, so that nothing is stored after they were switched off there. The locks make a change
// of the data retention wait for this body, or this body see the change; they are taken in the same order as there.
const INSERT = `
  WITH room AS (SELECT stored_bytes_of($1::uuid, 'request_body') > $11::bigint AS is_full),
  place AS MATERIALIZED (
    SELECT p.id FROM api_keys k JOIN accounts a ON a.id = k.account_id JOIN projects p ON p.id = coalesce(k.project_id, k.account_id)
    WHERE k.id = $3::uuid AND k.account_id = $1::uuid AND NOT a.is_zero_retention AND NOT p.is_zero_retention FOR SHARE OF p
  ), policy AS MATERIALIZED (
    SELECT b.is_on FROM place, body_policies b WHERE b.account_id = $1::uuid AND b.scope_id IN ($1::uuid, $3::uuid)
    ORDER BY b.scope_id = $3::uuid DESC LIMIT 1 FOR SHARE OF b
  ), written AS (
    INSERT INTO request_bodies (account_id, id, key_id, request, answer, request_bytes, answer_bytes, is_request_cut,
      is_answer_cut, expires_at)
    SELECT $1::uuid, $2::uuid, $3::uuid, $4::bytea, $5::bytea, $6::bigint, $7::bigint, $8::boolean, $9::boolean,
      now() + $10::integer * interval '1 day'
    FROM room, policy WHERE NOT is_full AND policy.is_on
    ON CONFLICT DO NOTHING
  )
  SELECT is_full FROM room`

const DELETE_EXPIRED = `
  DELETE FROM request_bodies WHERE (account_id, id) IN (
    SELECT account_id, id FROM request_bodies WHERE expires_at <= now()
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING 1 AS one`

const DELETE_REVOKED = `
  DELETE FROM request_bodies WHERE (account_id, id) IN (
    SELECT body.account_id, body.id FROM api_keys JOIN request_bodies body ON body.key_id = api_keys.id
    WHERE api_keys.revoked_at IS NOT NULL AND api_keys.id IN (SELECT DISTINCT key_id FROM request_bodies)
    LIMIT $1 FOR UPDATE OF body SKIP LOCKED)
  RETURNING 1 AS one`

const FIND_FULL = `
  SELECT account_id FROM (SELECT DISTINCT account_id FROM body_policies) AS storing
  WHERE stored_bytes_of(account_id, 'request_body') > $1`

const DELETE_OLDEST = `
  DELETE FROM request_bodies body USING (
    SELECT id, sum(octet_length(request) + octet_length(answer)) OVER (ORDER BY id DESC) AS reached
    FROM request_bodies WHERE account_id = $1
  ) AS sized
  WHERE body.account_id = $1 AND body.id = sized.id AND sized.reached > $2`
