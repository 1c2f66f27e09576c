import { AppError, notFound } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'
import { readPrimaryOnly, type ReplicaReads } from '../../storage/replica/replica-reads.ts'
import type { OnlineIndexes } from '../../storage/online-indexes.ts'
import type { Usage, UsageFilter } from '../usage/usage.ts'
import { ErrorMeter } from './errors/error-meter.ts'
import {
  followRequests,
  type EndedRequests,
  type FollowedQuery,
  type FollowTiming,
} from './follow-requests.ts'
import { FailedRequests, type FailedRequestsOptions } from './failed-requests.ts'
import { listErrors, type ErrorGroups, type ErrorsQuery } from './errors/list-errors.ts'
import {
  listEntries,
  ROWS_OF_ALL_SCANNED_MAX,
  type LogPage,
  type LogQuery,
  type LogReader,
  type ScannedPart,
} from './list-entries.ts'
import type { LogEntry } from './log-entry.ts'
import { CHARGED, FAILED, mayMatch } from './log-parts.ts'
import { toFailedRequest, toFailedStream, type EndedRequest } from './note-ended.ts'

export { SEALED_BODIES } from './bodies/body-writer.ts'
export type { BodyPolicy } from './bodies/body-policies.ts'
export {
  createDataRetention,
  nameRetention,
  refuseZeroRetention,
  type DataRetention,
} from './bodies/data-retention.ts'
export {
  openStoredBodies,
  type RequestBodies,
  type StoredBodies,
  type StoredBody,
} from './bodies/stored-bodies.ts'
export { LOG_OUTCOMES, type LogEntry } from './log-entry.ts'
export { readLogged, type LoggedRequest } from './read-logged.ts'
export type { LogPage, LogQuery, LogReader } from './list-entries.ts'
export type { EndedRequests } from './follow-requests.ts'
export type { ErrorGroup } from './errors/list-errors.ts'
export type { LogFilter } from './log-parts.ts'

/** The requests of accounts, one entry each. */
export interface RequestLog {
  /** Returns entries, newest first. */
  list(query: LogQuery): Promise<LogPage>
  /** Yields the last requests that a query finds, and then those that end, until `pause` resolves to false. */
  follow(query: FollowedQuery, timing: FollowTiming): AsyncIterable<EndedRequests>
  /** Returns all that match, newest first, some at a time. */
  walk(query: Omit<LogQuery, 'page'>): AsyncIterable<readonly LogEntry[]>
  /** Throws `not_found` for a request of another account, or of a key that the reader does not see. */
  read(reader: LogReader, requestUuid: string): Promise<LogEntry>
  /** Returns equal errors with their numbers, the most frequent first. */
  listErrors(query: ErrorsQuery): Promise<ErrorGroups>
  /** Resolves when all errors that this process noted are counted in the database. */
  storeErrors(): Promise<void>
  /** Logs a request that has ended without a charge, and counts its error. Charged ones are logged with their usage. */
  noteEnded(request: EndedRequest): void
  /** Call it after all requests have ended. */
  close(): Promise<void>
}

interface RequestLogOptions extends FailedRequestsOptions {
  readonly usage: Pick<Usage, 'postCharges' | 'findSpan' | 'noteError'>
  readonly onlineIndexes: Pick<OnlineIndexes, 'areReady'>
  /** Where entries are read from that may be a little old. */
  readonly reads?: Pick<ReplicaReads, 'reader'>
}

export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { database, usage } = options
  const { reader } = options.reads ?? readPrimaryOnly(database)
  const failed = new FailedRequests(options)
  const errors = new ErrorMeter(options)
  const list = async (given: LogQuery): Promise<LogPage> => {
    const query = await nameAccount(reader, given)
    const [spans] = await Promise.all([findSpans(usage, query), failed.flush()])
    if (query.accountId !== null) return listEntries(reader, spans, query)
    if (!(await options.onlineIndexes.areReady())) throw stillBuilding()
    return listEntries(reader, spans, query, ROWS_OF_ALL_SCANNED_MAX)
  }
  return {
    list,
    follow: (query, timing) => followRequests(query, list, timing),
    walk: (query) => walkPages(list, query),
    read: async (reader, requestUuid) => {
      const page = { limit: 1, afterId: null }
      const { entries } = await list({ ...reader, range: ALL_TIME, filter: {}, requestUuid, page })
      const [entry] = entries
      if (entry === undefined) throw notFound('request')
      return entry
    },
    listErrors: async (query) => {
      await errors.flush()
      return listErrors(reader, query)
    },
    storeErrors: () => errors.flush(),
    noteEnded: (request) => {
      const entry = toFailedRequest(request)
      if (entry !== null) failed.note(entry)
      const error = entry ?? toFailedStream(request)
      if (error === null) return
      errors.note(error)
      usage.noteError(error)
    },
    close: async () => {
      await Promise.all([failed.close(), errors.close()])
    },
  }
}

const WALKED_AT_ONCE = 1_000

/** A page that a rare filter left empty is returned too, so that whoever reads can end it. */
async function* walkPages(
  list: RequestLog['list'],
  query: Omit<LogQuery, 'page'>,
): AsyncGenerator<readonly LogEntry[], void> {
  let afterId: string | null = null
  do {
    const page: LogPage = await list({ ...query, page: { limit: WALKED_AT_ONCE, afterId } })
    yield page.entries
    afterId = page.nextCursor
  } while (afterId !== null)
}

/** A key belongs to one account, whose requests are found by its own index. */
async function nameAccount(database: Queryable, query: LogQuery): Promise<LogQuery> {
  const { accountId, filter } = query
  if (accountId !== null || filter.keyId === undefined) return query
  const [key] = await database.query<{ account_id: string }>(
    'SELECT account_id FROM api_keys WHERE id = $1',
    [filter.keyId],
  )
  return key === undefined ? query : { ...query, accountId: key.account_id }
}

/** Up to the year 9999. */
const ALL_TIME = { fromMs: 0, toMs: 253_370_764_800_000 }

function stillBuilding(): AppError {
  return new AppError(
    'service_unavailable',
    'The index for the requests of all accounts is still being built. Name an account, or try again later.',
    { retryAfterSeconds: 60 },
  )
}

/** Which rows of both tables can match. */
async function findSpans(usage: RequestLogOptions['usage'], query: LogQuery): Promise<ScannedPart[]> {
  const { filter, range } = query
  const span = mayMatch(CHARGED, filter) ? await findSpan(usage, query) : null
  return [
    ...(span === null ? [] : [{ part: CHARGED, range: span }]),
    ...(mayMatch(FAILED, filter) ? [{ part: FAILED, range }] : []),
  ]
}

/** Filters that the rollups have narrow the range, so that a model that was last used a year ago is found at once. */
async function findSpan(usage: RequestLogOptions['usage'], query: LogQuery) {
  const { accountId, projectId, ownKeyId, range, requestUuid } = query
  const { keyId, model, provider, environment, operation, label } = query.filter
  const filter: UsageFilter = {
    ...(keyId !== undefined && { keyId }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(environment !== undefined && { environment }),
    ...(operation !== undefined && { operation }),
    ...(query.filter.projectId !== undefined && { projectId: query.filter.projectId }),
    ...(label !== undefined && { label }),
  }
  const isNarrowed = ownKeyId !== null || Object.keys(filter).length > 0
  if (accountId !== null && requestUuid === null && isNarrowed) {
    const found = await usage.findSpan({ accountId, projectId, ownKeyId, range, filter })
    // A tag beyond the limit of its day has no sums of its own.
    return found?.span ?? (label === undefined ? null : range)
  }
  await usage.postCharges()
  return range
}
