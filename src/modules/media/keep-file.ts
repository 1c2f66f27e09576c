import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Database } from '../../storage/database.ts'
import type { MediaStore } from '../../storage/media-store/media-store.ts'
import { requireRoom, takeRoom, type QuotaOf } from '../../storage/stored-bytes/stored-bytes.ts'
import { openSource, SourceTooLarge, type OpenedSource } from './bounded-source.ts'
import { describeFormats, findFormat, findHeadlessFormat, markId, type MediaFormat } from './media-format.ts'
import { completeMedia, type MediaRecord, type MediaRows, type WrittenMedia } from './media-record.ts'
import type { KeepOrder } from './media-order.ts'
import { bytesMaxOf } from './media-limits.ts'
import { recogniseMedia } from '../../kernel/media/recognise-media.ts'

export interface KeepParts {
  readonly database: Database
  readonly rows: MediaRows
  readonly store: MediaStore
  readonly clock: Clock
  /** For results. Inputs are kept as long as their work can take. */
  readonly resultRetentionMs: number
  readonly quotaOf: QuotaOf
}

const INPUT_RETENTION_MS = 24 * 60 * 60_000
/** How long writing a file may take before the file counts as abandoned. */
export const UNFINISHED_MS = 24 * 60 * 60_000

/**
 * Inserts the row, writes the file, then completes the row. If the process dies in between, the sweep finds the incomplete row.
 */
export async function keepFile(parts: KeepParts, order: KeepOrder): Promise<MediaRecord> {
  const { rows, store } = parts
  const { place, purpose, kind } = order
  const { accountId } = place
  if (purpose === 'input') await requireRoom(parts.database, { ...parts, kind: 'media', accountId })
  const source = await openOrder(order)
  try {
    const format = requireFormat(order, source.head)
    const id = markId(createId(parts.clock.nowMs()), format)
    const { contentType } = format
    const storeKey = id
    await rows.insert({
      id,
      place,
      purpose,
      kind,
      contentType,
      storeKey,
      unfinishedMs: UNFINISHED_MS,
    })
    try {
      const { bytes } = await store.put(storeKey, source.all, contentType)
      const retentionMs = purpose === 'result' ? parts.resultRetentionMs : INPUT_RETENTION_MS
      const written = { id, bytes, retentionMs }
      // A result is stored even beyond the quota, because it has been paid for. The quota is checked before the work begins.
      const kept =
        purpose === 'result' ? await rows.complete(written) : await completeInput(parts, order, written)
      if (kept === null) throw new Error('a file took too long to be written')
      return kept
    } catch (error) {
      // If the deletion fails, the sweep repeats it.
      await clear(parts, id).catch(() => {})
      throw error
    }
  } catch (error) {
    await source.close().catch(() => {})
    throw error instanceof SourceTooLarge ? tooLarge(order) : error
  }
}

async function completeInput(
  { database, quotaOf }: KeepParts,
  { place: { accountId }, param }: KeepOrder,
  written: WrittenMedia,
): Promise<MediaRecord | null> {
  const bytesMax = await quotaOf(accountId, 'media')
  return database.transaction(async (transaction) => {
    await takeRoom(transaction, { kind: 'media', accountId, bytesMax, bytes: written.bytes, param })
    const [record] = await completeMedia(transaction, [written])
    return record ?? null
  })
}

async function openOrder(order: KeepOrder): Promise<OpenedSource> {
  try {
    return await openSource(order.source, bytesMaxOf(order))
  } catch (error) {
    throw error instanceof SourceTooLarge ? tooLarge(order) : error
  }
}

async function clear({ database, store }: KeepParts, id: string): Promise<void> {
  await store.delete(id)
  await database.query('DELETE FROM media WHERE id = $1', [id])
}

function requireFormat(order: KeepOrder, head: Uint8Array): MediaFormat {
  const { kind, purpose, param, contentType } = order
  const extension = recogniseMedia(head)
  const format = extension === null ? findHeadlessFormat(kind, contentType) : findFormat(kind, extension)
  if (format !== null && head.byteLength > 0) return format
  const what = `${kind} of a form the gateway knows (${describeFormats(kind)})`
  if (purpose === 'result') throw new AppError('provider_error', `The upstream's file is no ${what}.`)
  throw new AppError('invalid_value', `The file is no ${what}.`, param === undefined ? {} : { param })
}

function tooLarge(order: KeepOrder): AppError {
  const megabytes = Math.floor(bytesMaxOf(order) / 1_000_000)
  if (order.purpose === 'result')
    return new AppError('provider_error', `The upstream's file is larger than ${megabytes} MB.`)
  const named = order.param === undefined ? {} : { param: order.param }
  return new AppError('request_too_large', `The ${order.kind} is larger than ${megabytes} MB.`, named)
}
