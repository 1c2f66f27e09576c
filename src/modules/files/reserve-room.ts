import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'
import {
  lockStoredBytes,
  noRoomLeft,
  requireFit,
  type QuotaOf,
} from '../../storage/stored-bytes/stored-bytes.ts'

/** Room for a file whose bytes are still to come. It counts against the quotas as the file will. */
export interface Reservation {
  readonly id: string
  readonly bytes: number
}

export interface RoomOrder {
  readonly place: Place
  /** What the client says. Null if it does not: then as much as is left is taken, up to the largest file. */
  readonly bytes: number | null
  readonly bytesMax: number
}

export interface ReserveParts {
  readonly database: Database
  readonly clock: Clock
  readonly quotaOf: QuotaOf
}

/** Of an account. A project other than `Default` may have half of the files, and of the bytes. */
const FILES_MAX = 10_000
/** A process that died leaves its reservations behind for this long. */
const RESERVED_MINUTES = 60

/** Takes room before any byte is stored, so that many uploads at once cannot pass the quotas. Throws if there is none. */
export async function reserveRoom(
  { database, clock, quotaOf }: ReserveParts,
  order: RoomOrder,
): Promise<Reservation> {
  const quotaBytes = await quotaOf(order.place.accountId, 'file')
  return database.transaction((transaction) =>
    insertReservation(transaction, createId(clock.nowMs()), { ...order, quotaBytes }),
  )
}

export interface QuotaOrder extends RoomOrder {
  readonly quotaBytes: number | null
}

/** The first lock of the transaction. */
export async function insertReservation(
  transaction: Queryable,
  id: string,
  order: QuotaOrder,
): Promise<Reservation> {
  const { place, bytesMax } = order
  const room = await lockRoom(transaction, order)
  if (room.usedBytes >= room.bytesMax) throw noRoomLeft('file', room)
  const bytes = order.bytes ?? Math.max(1, Math.min(bytesMax, room.leftBytes))
  room.require({ bytes, files: 1 })
  await transaction.query(
    `INSERT INTO file_reservations (id, account_id, project_id, bytes, expires_at)
     VALUES ($1, $2, $3, $4, now() + $5 * interval '1 minute')`,
    [id, place.accountId, place.projectId, bytes, RESERVED_MINUTES],
  )
  return { id, bytes }
}

export interface Room {
  readonly usedBytes: number
  readonly bytesMax: number
  /** What fits, also into the share of the project. */
  readonly leftBytes: number
  /** Throws if that much more does not fit. */
  require(more: { readonly bytes: number; readonly files: number }): void
}

/** What the account and the project have left. Nobody else takes of it until the transaction ends. */
export async function lockRoom(
  transaction: Queryable,
  { place: { accountId, projectId }, quotaBytes }: Pick<QuotaOrder, 'place' | 'quotaBytes'>,
): Promise<Room> {
  const usedBytes = (await lockStoredBytes(transaction, [accountId], 'file')).get(accountId) ?? 0
  const [kept] = await transaction.query<{ total: bigint; own: bigint; own_bytes: bigint }>(KEPT, [
    accountId,
    projectId ?? accountId,
  ])
  const isShare = projectId !== null && projectId !== accountId
  const bytesMax = quotaBytes ?? Number.MAX_SAFE_INTEGER
  const shareBytes = isShare ? Math.floor(bytesMax / 2) : bytesMax
  const ownBytes = Number(kept?.own_bytes ?? 0)
  return {
    usedBytes,
    bytesMax,
    leftBytes: Math.min(bytesMax - usedBytes, isShare ? shareBytes - ownBytes : Infinity),
    require: ({ bytes, files }) => {
      requireFit('file', { usedBytes, bytesMax, bytes, param: 'file' })
      if (Number(kept?.total ?? 0) + files > FILES_MAX) throw tooMany('account', FILES_MAX)
      if (!isShare) return
      if (Number(kept?.own ?? 0) + files > FILES_MAX / 2) throw tooMany('project', FILES_MAX / 2)
      if (ownBytes + bytes <= shareBytes) return
      const message = `The files of this project take ${ownBytes} bytes of the ${shareBytes} that they may take, which is half of the account's. ${bytes} bytes more do not fit. Delete files to make room.`
      throw new AppError('request_too_large', message, { param: 'file' })
    },
  }
}

interface Growth {
  readonly place: Place
  readonly id: string
  readonly neededBytes: number
  /** At least so much is added if it is left. */
  readonly stepBytes: number
}

/** Returns how many bytes were added. Throws if the needed ones do not fit. */
export async function growReservation(
  { database, quotaOf }: Omit<ReserveParts, 'clock'>,
  { place, id, neededBytes, stepBytes }: Growth,
): Promise<number> {
  const quotaBytes = await quotaOf(place.accountId, 'file')
  return database.transaction(async (transaction) => {
    const room = await lockRoom(transaction, { place, quotaBytes })
    const bytes = Math.max(neededBytes, Math.min(stepBytes, room.leftBytes))
    room.require({ bytes, files: 0 })
    await transaction.query('UPDATE file_reservations SET bytes = bytes + $2 WHERE id = $1', [id, bytes])
    return bytes
  })
}

/** Gives back what was not used. */
export async function releaseRoom(queryable: Queryable, id: string): Promise<void> {
  await queryable.query('DELETE FROM file_reservations WHERE id = $1', [id])
}

export async function sweepReservations(queryable: Queryable): Promise<void> {
  await queryable.query(`DELETE FROM file_reservations WHERE id IN (
    SELECT id FROM file_reservations WHERE expires_at <= now() LIMIT 1000 FOR UPDATE SKIP LOCKED)`)
}

function tooMany(owner: string, count: number): AppError {
  return new AppError('conflict', `This ${owner} may have ${count} files. Delete some first.`)
}

const KEPT = `
  SELECT count(*) AS total, count(*) FILTER (WHERE owner = $2) AS own,
    coalesce(sum(bytes) FILTER (WHERE owner = $2), 0)::bigint AS own_bytes
  FROM (
    SELECT bytes, coalesce(project_id, account_id) AS owner FROM files
    WHERE account_id = $1 AND bytes IS NOT NULL AND removing_at IS NULL
    UNION ALL
    SELECT bytes, coalesce(project_id, account_id) FROM file_reservations WHERE account_id = $1
  ) AS kept`
