import { AppError, type AppErrorOptions } from '../../kernel/app-error.ts'
import type { Queryable } from '../database.ts'

/** Kinds of data with a quota each. Database triggers count their bytes whenever rows change. */
const STORED_KINDS = ['media', 'dataset', 'task', 'stored_response', 'response', 'file'] as const
export type StoredKind = (typeof STORED_KINDS)[number]

/** Quotas in bytes. Null means no limit. */
export type StorageQuotas = Readonly<Record<StoredKind, number | null>>

/**
 * Returns the quota of an account, which depends on its tier. It may query the balance, so do not call it inside a transaction:
 * that holds one connection while it waits for another, and enough such callers deadlock the pool.
 */
export type QuotaOf = (accountId: string, kind: StoredKind) => number | null | Promise<number | null>

export const noQuota: QuotaOf = () => null

interface RoomOrder {
  readonly quotaOf: QuotaOf
  readonly kind: StoredKind
  readonly accountId: string
}

interface AddedBytes extends Pick<RoomOrder, 'kind' | 'accountId'> {
  /** The quota. */
  readonly bytesMax: number | null
  readonly bytes: number
  readonly param?: string | undefined
}

/** Throws if the quota is used up. Takes no lock. Used to refuse requests before any work is done. */
export async function requireRoom(queryable: Queryable, order: RoomOrder): Promise<void> {
  const bytesMax = await order.quotaOf(order.accountId, order.kind)
  if (bytesMax === null) return
  const usedBytes = await readStoredBytes(queryable, order.accountId, order.kind)
  if (usedBytes >= bytesMax) throw noRoomLeft(order.kind, { usedBytes, bytesMax })
}

/** Throws if the bytes do not fit. Other additions of the account wait until this transaction ends. */
export async function takeRoom(transaction: Queryable, order: AddedBytes): Promise<void> {
  const { kind, accountId, bytesMax, bytes, param } = order
  if (bytesMax === null) return
  const usedBytes = (await lockStoredBytes(transaction, [accountId], kind)).get(accountId) ?? 0
  requireFit(kind, { usedBytes, bytesMax, bytes, param })
}

/** Throws if the bytes do not fit. */
export function requireFit(
  kind: StoredKind,
  room: Usage & { readonly bytes: number; readonly param?: string | undefined },
): void {
  if (room.usedBytes + room.bytes > room.bytesMax) throw doesNotFit(kind, room)
}

/**
 * Returns the stored bytes of each account and locks them until the transaction ends. Must be the first lock of the transaction.
 */
export async function lockStoredBytes(
  transaction: Queryable,
  accountIds: readonly string[],
  kind: StoredKind,
): Promise<Map<string, number>> {
  const rows = await transaction.query<{ account_id: string; bytes: bigint }>(
    'SELECT account_id, bytes FROM lock_stored_bytes($1::uuid[], $2)',
    [accountIds, kind],
  )
  return new Map(rows.map(({ account_id: accountId, bytes }) => [accountId, Number(bytes)]))
}

export async function readStoredBytes(
  queryable: Queryable,
  accountId: string,
  kind: StoredKind,
): Promise<number> {
  const [row] = await queryable.query<{ bytes: bigint }>('SELECT stored_bytes_of($1, $2) AS bytes', [
    accountId,
    kind,
  ])
  return Number(row?.bytes ?? 0)
}

/** Returns the stored bytes of an account for all kinds. */
export async function readAllStoredBytes(
  queryable: Queryable,
  accountId: string,
): Promise<Readonly<Record<StoredKind, number>>> {
  const rows = await queryable.query<{ kind: StoredKind; bytes: bigint }>(
    'SELECT kind, stored_bytes_of($1, kind) AS bytes FROM unnest($2::text[]) AS kind',
    [accountId, STORED_KINDS],
  )
  const counted = { media: 0, dataset: 0, task: 0, stored_response: 0, response: 0, file: 0 }
  for (const { kind, bytes } of rows) counted[kind] = Number(bytes)
  return counted
}

interface Usage {
  readonly usedBytes: number
  readonly bytesMax: number
}

const WORDS: Readonly<Record<StoredKind, { what: string; remedy: string }>> = {
  media: { what: 'files', remedy: 'Files are removed when the time they are kept for is over.' },
  dataset: { what: 'datasets', remedy: 'Delete a dataset to make room.' },
  task: {
    what: 'tasks',
    remedy: 'Tasks give their room back when the time their results are kept for is over.',
  },
  stored_response: {
    what: 'answers that are kept for Idempotency-Keys',
    remedy:
      'Nothing was done. Answers are kept for 24 hours; until then send requests without an Idempotency-Key.',
  },
  response: {
    what: 'stored responses',
    remedy: 'Delete responses to make room, or send requests with "store": false.',
  },
  file: { what: 'uploaded files', remedy: 'Delete files to make room.' },
}

const RETRY_SECONDS = 3_600

/** Returns the error for requests that are refused because the quota is used up. */
export function noRoomLeft(kind: StoredKind, usage: Usage): AppError {
  return new AppError('rate_limit_exceeded', `${describe(kind, usage)} ${WORDS[kind].remedy}`, {
    retryAfterSeconds: RETRY_SECONDS,
    headers: { 'x-should-retry': 'false' },
  })
}

function doesNotFit(
  kind: StoredKind,
  { bytes, param, ...usage }: Usage & { readonly bytes: number; readonly param?: string | undefined },
): AppError {
  const options: AppErrorOptions = param === undefined ? {} : { param }
  const message = `${describe(kind, usage)} ${bytes} bytes more do not fit. ${WORDS[kind].remedy}`
  return new AppError('request_too_large', message, options)
}

function describe(kind: StoredKind, { usedBytes, bytesMax }: Usage): string {
  return `The ${WORDS[kind].what} of this account take ${usedBytes} bytes of the ${bytesMax} that they may take (${kind}_bytes_max).`
}
