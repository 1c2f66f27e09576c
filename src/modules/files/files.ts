import type { Readable } from 'node:stream'
import { AppError, notFound } from '../../kernel/app-error.ts'
import { openPage, orderedPage, type OpenPage, type OrderedPageRequest } from '../../kernel/page.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Queryable } from '../../storage/database.ts'
import type { ByteRange, MediaStore } from '../../storage/media-store/media-store.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { requireRoom } from '../../storage/stored-bytes/stored-bytes.ts'
import { COLUMNS, fileFromRow, IS_READABLE, type FileRow, type StoredFile } from './file-row.ts'
import {
  releaseRoom,
  reserveRoom,
  sweepReservations,
  type Reservation,
  type RoomOrder,
} from './reserve-room.ts'
import { storeFile, type FileOrder, type StoreParts } from './store-file.ts'
import { removeFiles, sweepFiles } from './sweep-files.ts'
import { openParts, readPartsOfFile } from './uploads/open-parts.ts'
import { sweepParts, sweepUploads } from './uploads/sweep-uploads.ts'
import { createUploads, type Uploads } from './uploads/uploads.ts'

export { PART_BYTES_MAX, UPLOAD_BYTES_MAX, type Upload, type Uploads } from './uploads/uploads.ts'
export { BATCH_FILE_BYTES_MAX, FILE_BYTES_MAX } from './store-file.ts'
export { FILE_PURPOSES, UPLOAD_PURPOSES, type StoredFile } from './file-row.ts'

/** Files that clients upload, and files with results of the gateway. */
export interface Files {
  readonly uploads: Uploads
  /** Takes room for a file whose bytes are still to come. */
  reserve(order: RoomOrder): Promise<Reservation>
  /** Gives back what was not used of it. */
  release(reservationId: string): Promise<void>
  /** Throws if the quota of the account is used up. */
  requireRoom(place: Place): Promise<void>
  /** Streams the source into the store. Nothing remains of a source that fails or does not fit into the quotas. */
  store(order: FileOrder): Promise<StoredFile>
  list(
    place: Place,
    filter: { readonly purpose: string | null },
    page: OrderedPageRequest,
  ): Promise<OpenPage<StoredFile>>
  /** Throws `not_found` also for files of other accounts and projects, and for those that were deleted or have expired. */
  read(place: Place, fileId: string): Promise<StoredFile>
  /** The caller reads the stream to its end or destroys it. */
  open(file: StoredFile, range?: ByteRange): Promise<Readable>
  /** Nobody reads it any more when this returns. Throws `conflict` while it is in use. */
  delete(place: Place, fileId: string): Promise<void>
  /** Removes what has expired or was deleted from the store. Also runs periodically. */
  sweep(): Promise<void>
}

interface FilesOptions extends StoreParts {
  /** A file that it names a user of is not deleted. */
  readonly findUse: FindUse
  readonly store: Pick<MediaStore, 'put' | 'open' | 'delete'>
  readonly logger: Logger
}

/** Names what still reads a file of an account, such as a batch. */
export type FindUse = (queryable: Queryable, accountId: string, fileId: string) => Promise<string | null>

export function createFiles(options: FilesOptions): Files {
  const { database, store, logger, findUse } = options
  return {
    uploads: createUploads(options),
    reserve: (order) => reserveRoom(options, order),
    release: (reservationId) => releaseRoom(database, reservationId),
    requireRoom: ({ accountId }) =>
      requireRoom(database, { quotaOf: options.quotaOf, kind: 'file', accountId }),
    store: (order) => storeFile(options, order),
    list: (place, filter, page) => listFiles(database, place, filter, page),
    read: async (place, fileId) => {
      const [row] = await database.query<FileRow>(
        `SELECT ${COLUMNS} FROM files WHERE id = $1 AND ${isWithin(place, '$2')} AND ${IS_READABLE}`,
        [fileId, idsOf(place)],
      )
      if (row === undefined) throw notFound('file')
      return fileFromRow(row)
    },
    open: async ({ id, isInParts }, range) => {
      const source = isInParts
        ? await openParts(store, await readPartsOfFile(database, id), range)
        : await store.open(id, range)
      // It was deleted since its row was read.
      if (source === null) throw notFound('file')
      return source
    },
    delete: async (place, fileId) => {
      const [known] = await database.query(
        `SELECT FROM files WHERE id = $1 AND ${isWithin(place, '$2')} AND ${IS_READABLE}`,
        [fileId, idsOf(place)],
      )
      if (known === undefined) throw notFound('file')
      const user = await findUse(database, place.accountId, fileId)
      if (user !== null)
        throw new AppError(
          'conflict',
          `The file is in use by ${user}. Cancel that first, or wait for its end.`,
        )
      const [row] = await database.query<Pick<FileRow, 'is_in_parts'>>(
        `UPDATE files SET removing_at = now() WHERE id = $1 AND ${isWithin(place, '$2')} AND ${IS_READABLE} RETURNING is_in_parts`,
        [fileId, idsOf(place)],
      )
      if (row === undefined) throw notFound('file')
      const removing = removeFiles(options, [fileId]).then(() =>
        row.is_in_parts === true ? sweepParts(options) : undefined,
      )
      await removing.catch((error: unknown) =>
        logger.warn({ reason: messageOf(error) }, 'a deleted file is removed from the store later'),
      )
    },
    sweep: async () => {
      await sweepReservations(database)
      await sweepFiles(options)
      await sweepUploads(options)
    },
  }
}

async function listFiles(
  queryable: Queryable,
  place: Place,
  { purpose }: { readonly purpose: string | null },
  page: OrderedPageRequest,
): Promise<OpenPage<StoredFile>> {
  const { isBehind, inOrder, after } = orderedPage('id', '$2', page)
  const rows = await queryable.query<FileRow>(
    `SELECT ${COLUMNS} FROM files
     WHERE ${isWithin(place, '$1')} AND ${isBehind} AND ($3::text IS NULL OR purpose = $3) AND ${IS_READABLE}
     ${inOrder} LIMIT $4`,
    [idsOf(place), after, purpose, page.limit + 1],
  )
  return openPage(rows.map(fileFromRow), page.limit)
}
