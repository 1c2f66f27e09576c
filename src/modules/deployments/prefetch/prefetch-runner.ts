import { Cancellation } from '../../../kernel/cancellation.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Sealer } from '../../../kernel/seal-text.ts'
import { toStorable } from '../../../kernel/storable-text.ts'
import { HubError } from '../../../hub/hub-error.ts'
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
  const { database, clock, messageBus, logger } = options
  const owner = createId()
  const running = new Map<Cancellation, Promise<void>>()
  let isClosed = false
  let looking: Promise<void> | null = null

  const takeUp = async (): Promise<void> => {
    for (;;) {
      if (isClosed || running.size >= AT_ONCE_MAX) return
      const nowMs = clock.nowMs()
      const until = new Date(nowMs + options.leaseMs)
      const [row] = await database.query<PrefetchRow>(CLAIM, [owner, until, new Date(nowMs)])
      if (row === undefined) return
      const cancellation = new Cancellation()
      const work = download(options, { row, owner, cancellation }).finally(() => {
        running.delete(cancellation)
        look()
      })
      running.set(cancellation, work)
    }
  }
  const look = (): void => {
    if (isClosed) return
    looking ??= takeUp()
      .catch((error: unknown) => {
        logger.warn({ reason: messageOf(error) }, 'downloads of models could not be taken up')
      })
      .finally(() => {
        looking = null
      })
  }
  const unsubscribe = messageBus.subscribe(PREFETCH_TOPIC, look)
  const timer = setInterval(look, POLL_MS).unref()
  look()

  return {
    close: async () => {
      isClosed = true
      unsubscribe()
      clearInterval(timer)
      await looking
      for (const cancellation of running.keys()) cancellation.cancel(new Stopped())
      await Promise.all(running.values())
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

interface Work {
  readonly row: PrefetchRow
  readonly owner: string
  readonly cancellation: Cancellation
}

async function download(options: RunnerOptions, { row, owner, cancellation }: Work): Promise<void> {
  const { database, clock, cache, sealer, logger } = options
  let doneBytes = Number(row.done_bytes)
  const mine = [row.account_id, row.huggingface_id, row.number, owner]
  const beat = setInterval(() => {
    const nowMs = clock.nowMs()
    database
      .query<object>(RENEW, [...mine, doneBytes, new Date(nowMs + options.leaseMs), new Date(nowMs)])
      .then((renewed) => {
        if (renewed.length === 0) cancellation.cancel(new NotWanted())
      })
      // Ignored: the lease outlasts a short outage of the database.
      .catch(() => {})
  }, BEAT_MS)
  const end = async (status: 'complete' | 'failed', message: string | null): Promise<void> => {
    await database.query(END, [
      ...mine,
      status,
      status === 'complete' ? Number(row.size_bytes) : doneBytes,
      message,
      new Date(clock.nowMs()),
    ])
  }
  try {
    if (cache === null) throw new HubError('unreadable', 'This gateway keeps no models any more.')
    if (row.attempt > ATTEMPTS_MAX)
      throw new HubError('unavailable', 'The download was given up after several restarts.')
    await cache.fetch({
      modelId: row.huggingface_id,
      commit: row.commit,
      files: parseFiles(row.files),
      token: row.sealed_token === null ? null : openOwnToken(sealer, row.sealed_token, placeOf(row)),
      asOperator: await options.mayUseHubToken(row.account_id),
      cancellation,
      onProgress: ({ bytesDone }) => {
        doneBytes = bytesDone
      },
    })
    await end('complete', null)
  } catch (error) {
    if (error instanceof NotWanted) return
    const release =
      'UPDATE model_prefetches SET lease_until = NULL, attempt = attempt - 1 WHERE account_id = $1 AND huggingface_id = $2 AND number = $3 AND lease_owner = $4'
    if (error instanceof Stopped) await database.query(release, mine).catch(() => {})
    else await fail(error)
  } finally {
    clearInterval(beat)
  }

  async function fail(error: unknown): Promise<void> {
    const isKnown = error instanceof HubError
    if (!isKnown)
      logger.warn({ model: row.huggingface_id, reason: messageOf(error) }, 'a model could not be downloaded')
    const message = isKnown ? error.message : 'The model could not be downloaded.'
    const shown = toStorable(message).slice(0, MESSAGE_LENGTH_MAX)
    try {
      await end('failed', shown)
    } catch (cause) {
      // The lease expires, and another process retries the download.
      logger.warn(
        { model: row.huggingface_id, reason: messageOf(cause) },
        'the end of a download could not be written',
      )
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
