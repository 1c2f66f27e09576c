import type { Readable } from 'node:stream'
import { AppError, notFound, invalidValue } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { Database } from '../../storage/database.ts'
import type { ByteRange, MediaStore } from '../../storage/media-store/media-store.ts'
import type { WatchedStore } from '../../storage/media-store/report-store-failures.ts'
import { requireRoom, type QuotaOf } from '../../storage/stored-bytes/stored-bytes.ts'
import { isRowWithin, type Place } from '../../storage/place.ts'
import { copyFile } from './copy-file.ts'
import { fetchForeign } from './fetch-foreign.ts'
import { keepFile, UNFINISHED_MS } from './keep-file.ts'
import { readAddress, signAddress } from './media-address.ts'
import type { CopyOrder, KeepOrder } from './media-order.ts'
import { findMedia, MediaRows, type MediaRecord } from './media-record.ts'
import { readMediaSecret } from './media-secret.ts'
import type { OwnFiles } from './own-files.ts'
import { removeMedia, sweepMedia } from './sweep-media.ts'

export { findFileUses, inlineFiles, type FileUse, type FindOptions, type InlinedUse } from './inline-files.ts'
export type { OwnFile, OwnFiles } from './own-files.ts'
export type { CopyOrder, KeepOrder, MediaKind } from './media-order.ts'

/** Stores files of accounts: inputs of clients and results of upstreams. */
export interface Media extends OwnFiles {
  /** Stores the bytes of a source up to the limit. Nothing remains of a source that fails or is too large. */
  keep(order: KeepOrder): Promise<MediaFile>
  /** Rejects if files can be neither stored nor read. */
  checkStore(): Promise<void>
  /** Throws if the store does not work or the account's quota is used up. Call it before work whose result is stored in any case. */
  requireRoom(accountId: string): Promise<void>
  /** Copies a file from a URL. Errors name `param` if the client gave the URL. */
  keepFromAddress(order: CopyOrder): Promise<MediaFile>
  read(place: Place, mediaId: string): Promise<{ readonly bytes: Uint8Array; readonly contentType: string }>
  /**
   * Returns an absolute, signed URL that is valid until the given time, or for the default lifetime. It needs no key and reveals
   * nothing. `baseUrl` is the gateway's address as the client sees it, used if no public address is configured.
   */
  addressOf(file: AddressedFile, baseUrl?: string): string
  /** The same, valid as long as results are kept. */
  lastingAddressOf(file: AddressedFile, baseUrl?: string): string
  /** Opens the file of a URL by its last part. Every invalid token gives the same `not_found`. */
  openAddress(token: string): Promise<ServedFile>
  remove(mediaIds: readonly string[]): Promise<void>
  /** Deletes expired files. Also runs periodically. */
  sweep(): Promise<number>
  close(): Promise<void>
}

export interface MediaFile {
  readonly id: string
  readonly contentType: string
  readonly bytes: number
  /** The expiry of the URL. The file itself is kept as long as the results of tasks. */
  readonly expiresAt: Date
}

interface AddressedFile {
  readonly id: string
  readonly expiresAt?: Date
}

interface ServedFile {
  readonly id: string
  readonly contentType: string
  readonly bytes: number
  /** The expiry of the URL. */
  readonly expiresAt: Date
  /** The caller must read it to the end or destroy it. */
  open(range?: ByteRange): Promise<Readable>
}

interface MediaOptions {
  readonly database: Database
  readonly store: WatchedStore
  readonly outbound: Outbound
  readonly clock: Clock
  /** The clock of the machine, which sets the times of files on a disk. */
  readonly machineClock: Clock
  readonly logger: Logger
  /** The configured address of the gateway for clients. */
  readonly publicUrl: string | null
  /** The listening address, used if no other is known. */
  readonly ownUrl: () => string
  readonly addressMs?: number
  readonly resultRetentionMs?: number
  readonly quotaOf: QuotaOf
  /** Whether expired files are deleted periodically; true unless told. */
  readonly isSweeping?: boolean
}

const HOUR_MS = 60 * 60_000
const ADDRESS_MS = 24 * HOUR_MS
const RESULT_RETENTION_MS = 30 * 24 * HOUR_MS
const SWEEP_INTERVAL_MS = 60_000
const READ_BYTES_MAX = 128_000_000

export async function createMedia(options: MediaOptions): Promise<Media> {
  const { database, store, outbound, clock, machineClock, logger, addressMs = ADDRESS_MS } = options
  const parts = {
    database,
    rows: new MediaRows(database),
    store,
    clock,
    resultRetentionMs: options.resultRetentionMs ?? RESULT_RETENTION_MS,
    quotaOf: options.quotaOf,
  }
  const publicUrl = options.publicUrl?.replace(/\/+$/, '') ?? null
  let secret = await readMediaSecret(database)

  // Rounded to the full hour, so that repeated requests get the same URL, which caches know.
  const hourAfter = (afterMs: number): Date =>
    new Date(Math.ceil((clock.nowMs() + afterMs) / HOUR_MS) * HOUR_MS)
  const usualExpiry = (): Date => hourAfter(addressMs)
  const addressOf: Media['addressOf'] = ({ id, expiresAt = usualExpiry() }, baseUrl) => {
    const base = publicUrl ?? baseUrl ?? options.ownUrl()
    return `${base}/media/${signAddress(secret, { id, expiresAtMs: expiresAt.getTime() })}`
  }
  const keep = (order: KeepOrder): Promise<MediaRecord> => keepFile(parts, order)
  const describe = ({ id, contentType, bytes }: MediaRecord): MediaFile => ({
    id,
    contentType,
    bytes,
    expiresAt: usualExpiry(),
  })
  const sweep = async (): Promise<number> => {
    // A restored backup contains another secret.
    secret = await readMediaSecret(database)
    await store.removeUnfinished(new Date(machineClock.nowMs() - UNFINISHED_MS))
    return sweepMedia(database, store)
  }
  const ownIdOf: Media['ownIdOf'] = (url, param) => {
    const bases = [options.publicUrl, options.ownUrl()].filter((base) => base !== null)
    return readOwnAddress(url, { secret, bases, param })
  }
  const openOwn: Media['openOwn'] = async (place, mediaId, param) => {
    const record = await findMedia(database, mediaId)
    if (record === null || !isRowWithin(place, record)) {
      throw new AppError('not_found', `'${param}' leads to no file of this account.`, { param })
    }
    const { contentType, bytes } = record
    return { contentType, bytes, open: () => openStored(store, record) }
  }
  let sweeping: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    if (options.isSweeping === false) return
    sweeping = sweep().catch((error: unknown) =>
      logger.warn({ err: error }, 'expired files were not removed'),
    )
  }, SWEEP_INTERVAL_MS)
  timer.unref()

  return {
    keep: async (order) => describe(await keep(order)),
    checkStore: () => store.check(),
    requireRoom: async (accountId) => {
      await store.requireWorking()
      await requireRoom(database, { quotaOf: options.quotaOf, kind: 'media', accountId })
    },
    ownIdOf,
    openOwn,
    fetchForeign: (order) => fetchForeign(outbound, order),
    keepFromAddress: async (order) => {
      const { purpose, url, place, param = 'url' } = order
      const ownId = purpose === 'input' ? ownIdOf(url, param) : null
      if (ownId === null) return describe(await copyFile(outbound, order, keep))
      const file = await openOwn(place, ownId, param)
      return describe(await keep({ ...order, source: await file.open() }))
    },

    async read(place, mediaId) {
      const record = isUuid(mediaId) ? await findMedia(database, mediaId) : null
      if (record === null || !isRowWithin(place, record)) throw notFound('file')
      if (record.bytes > READ_BYTES_MAX)
        throw new AppError('invalid_value', 'The file is too large to be read.')
      return { bytes: await readWhole(await openStored(store, record)), contentType: record.contentType }
    },

    addressOf,
    lastingAddressOf: ({ id }, baseUrl) =>
      addressOf({ id, expiresAt: hourAfter(parts.resultRetentionMs) }, baseUrl),

    async openAddress(token) {
      const address = readAddress(secret, token)
      if (address === null || address.expiresAtMs <= clock.nowMs()) throw notFound('file')
      const record = await findMedia(database, address.id)
      if (record === null) throw notFound('file')
      const { id, contentType, bytes } = record
      const expiresAt = new Date(Math.min(address.expiresAtMs, record.expiresAt.getTime()))
      return { id, contentType, bytes, expiresAt, open: (range) => openStored(store, record, range) }
    },

    remove: (mediaIds) => removeMedia(database, store, mediaIds),
    sweep,

    async close() {
      clearInterval(timer)
      await sweeping
      await store.close()
    },
  }
}

async function openStored(store: MediaStore, record: MediaRecord, range?: ByteRange): Promise<Readable> {
  const file = await store.open(record.storeKey, range)
  // The file was deleted since its row was read, possibly by another program.
  if (file === null) throw notFound('file')
  return file
}

async function readWhole(file: Readable): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of file as AsyncIterable<Uint8Array>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const OWN_PATH = /\/media\/([^/?#]+)$/

interface OwnAddressOptions {
  readonly secret: Buffer
  /** The known addresses of the gateway. */
  readonly bases: readonly string[]
  readonly param: string
}

/**
 * Returns the id of the gateway's file at a URL, or null for the URL of another server. Access is decided by the account's
 * rights, so expired URLs are accepted. A URL of the gateway without a valid signature is refused and not fetched.
 */
function readOwnAddress(url: string, { secret, bases, param }: OwnAddressOptions): string | null {
  // Most inputs are data URIs, which can be very long.
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return null
  const { pathname, origin } = new URL(url)
  const token = OWN_PATH.exec(pathname)?.[1]
  if (token === undefined) return null
  const address = readAddress(secret, token)
  if (address !== null) return address.id
  const isOurs = bases.some((base) => URL.canParse(base) && new URL(base).origin === origin)
  if (!isOurs) return null
  throw invalidValue(param, `'${param}' is not a valid address of a file of this gateway.`)
}
