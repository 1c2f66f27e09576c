import { Cancellation } from '../../../kernel/cancellation.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Sealer } from '../../../kernel/seal-text.ts'
import { toStorable } from '../../../kernel/storable-text.ts'
import { HubError } from '../../../hub/hub-error.ts'
import { LeasedWork, type LeasedItem } from '../../../storage/leased-work/leased-work.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import { parseFiles, placeOf, type PrefetchRow } from './prefetch-row.ts'
import { PREFETCH_TOPIC, type PrefetchesOptions } from './prefetches.ts'

/** Runs the ordered downloads. Several processes may have a runner: a lease gives each download to one of them. */
export interface PrefetchRunner {
  close(): Promise<void>
}

interface RunnerOptions extends Pick<
  PrefetchesOptions,
  'database' | 'messageBus' | 'clock' | 'sealer' | 'cache' | 'mayUseHubToken'
> {
  readonly logger: Logger
  /** Another process takes over the download of a dead process after this time. */
  readonly leaseMs: number
}

/** Concurrent downloads per process. */
const AT_ONCE_MAX = 2
const POLL_MS = 2_000
const BEAT_MS = 500
/** A download fails after this many processes died while they ran it. */
const ATTEMPTS_MAX = 3
const MESSAGE_LENGTH_MAX = 1_000

export function startPrefetchRunner(options: RunnerOptions): PrefetchRunner {
  const { database, clock, messageBus, logger, leaseMs } = options
  const owner = createId()
  const downloads = new LeasedWork<Download>({
    name: 'downloads of models',
    claim: async () => {
      const nowMs = clock.nowMs()
      const rows = await database.query<PrefetchRow>(CLAIM, [
        owner,
        new Date(nowMs + leaseMs),
        new Date(nowMs),
      ])
      return rows.map((row) => new Download(row, owner, options))
    },
    concurrency: AT_ONCE_MAX,
    claimedAtOnceMax: 1,
    pollMs: POLL_MS,
    renewal: {
      everyMs: BEAT_MS,
      findLost: async (running) => {
        const renewed = await Promise.all(running.map((download) => download.renew()))
        return running.filter((_, index) => renewed[index] === false)
      },
    },
    logger,
  })
  const unsubscribe = messageBus.subscribe(PREFETCH_TOPIC, () => downloads.wake())
  downloads.start()

  return {
    close: async () => {
      unsubscribe()
      await downloads.close({ graceMs: 0 })
    },
  }
}

/** The gateway is stopping. Another process continues the download, or this one after its restart. */
class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** The download was cancelled, or another process took it over. */
class NotWanted extends Error {
  override readonly name = 'NotWanted'
}

/** Runs one claimed download. */
class Download implements LeasedItem {
  readonly #row: PrefetchRow
  readonly #options: RunnerOptions
  readonly #cancellation = new Cancellation()
  readonly #mine: readonly unknown[]
  #doneBytes: number

  constructor(row: PrefetchRow, owner: string, options: RunnerOptions) {
    this.#row = row
    this.#options = options
    this.#mine = [row.account_id, row.huggingface_id, row.number, owner]
    this.#doneBytes = Number(row.done_bytes)
  }

  lose(): void {
    this.#cancellation.cancel(new NotWanted())
  }

  stop(): void {
    this.#cancellation.cancel(new Stopped())
  }

  /** Extends the lease and stores the progress. Returns false if this process does not have the download any more. */
  async renew(): Promise<boolean> {
    const { database, clock, leaseMs } = this.#options
    const nowMs = clock.nowMs()
    const values = [...this.#mine, this.#doneBytes, new Date(nowMs + leaseMs), new Date(nowMs)]
    try {
      return (await database.query(RENEW, values)).length > 0
    } catch {
      // Ignored: the lease outlasts a short outage of the database.
      return true
    }
  }

  async perform(): Promise<void> {
    try {
      await this.#fetch()
      await this.#end('complete', null)
    } catch (error) {
      if (error instanceof NotWanted) return
      if (error instanceof Stopped)
        await this.#options.database.query(RELEASE, [...this.#mine]).catch(() => {})
      else await this.#fail(error)
    }
  }

  async #fetch(): Promise<void> {
    const { cache, sealer, mayUseHubToken } = this.#options
    const row = this.#row
    if (cache === null) throw new HubError('unreadable', 'This gateway keeps no models any more.')
    if (row.attempt > ATTEMPTS_MAX)
      throw new HubError('unavailable', 'The download was given up after several restarts.')
    await cache.fetch({
      modelId: row.huggingface_id,
      commit: row.commit,
      files: parseFiles(row.files),
      token: row.sealed_token === null ? null : openOwnToken(sealer, row.sealed_token, placeOf(row)),
      asOperator: await mayUseHubToken(row.account_id),
      cancellation: this.#cancellation,
      onProgress: ({ bytesDone }) => {
        this.#doneBytes = bytesDone
      },
    })
  }

  async #end(status: 'complete' | 'failed', message: string | null): Promise<void> {
    const { database, clock } = this.#options
    const doneBytes = status === 'complete' ? Number(this.#row.size_bytes) : this.#doneBytes
    await database.query(END, [...this.#mine, status, doneBytes, message, new Date(clock.nowMs())])
  }

  async #fail(error: unknown): Promise<void> {
    const { logger } = this.#options
    const model = this.#row.huggingface_id
    const isKnown = error instanceof HubError
    if (!isKnown) logger.warn({ model, reason: messageOf(error) }, 'a model could not be downloaded')
    const message = isKnown ? error.message : 'The model could not be downloaded.'
    try {
      await this.#end('failed', toStorable(message).slice(0, MESSAGE_LENGTH_MAX))
    } catch (cause) {
      // The lease expires, and another process retries the download.
      logger.warn({ model, reason: messageOf(cause) }, 'the end of a download could not be written')
    }
  }
}

/** Throws a `HubError` if the token was sealed with another key, so that it is not taken for none. */
function openOwnToken(sealer: Sealer, sealed: Uint8Array, place: string): string {
  const token = sealer.open(sealed, place)
  if (token !== null) return token
  throw new HubError(
    'unreadable',
    'The hub token cannot be decrypted, because the gateway has another sealing key.',
  )
}

const CLAIM = `
  UPDATE model_prefetches SET lease_owner = $1, lease_until = $2, attempt = attempt + 1 WHERE (account_id, huggingface_id) IN (
    SELECT account_id, huggingface_id FROM model_prefetches
    WHERE status = 'downloading' AND (lease_until IS NULL OR lease_until < $3)
    ORDER BY updated_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING *`

const MINE = `account_id = $1 AND huggingface_id = $2 AND number = $3 AND lease_owner = $4 AND status = 'downloading'`
const RENEW = `UPDATE model_prefetches SET done_bytes = $5, lease_until = $6, updated_at = $7 WHERE ${MINE} RETURNING 1 AS one`
const END = `
  UPDATE model_prefetches SET status = $5, done_bytes = $6, error_message = $7, updated_at = $8, sealed_token = NULL,
    lease_owner = NULL, lease_until = NULL WHERE ${MINE}`
const RELEASE = `
  UPDATE model_prefetches SET lease_until = NULL, attempt = attempt - 1
  WHERE account_id = $1 AND huggingface_id = $2 AND number = $3 AND lease_owner = $4`
