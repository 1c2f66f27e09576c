import { notFound } from '../../kernel/app-error.ts'
import type { Reader } from '../keys/keys.ts'
import type { Usage, UsageFilter } from '../usage/usage.ts'
import { FailedRequests, type FailedRequestsOptions } from './failed-requests.ts'
import { listEntries, type LogPage, type LogQuery } from './list-entries.ts'
import type { LogEntry } from './log-entry.ts'
import { CHARGED, FAILED } from './log-parts.ts'
import { toFailedRequest, type EndedRequest } from './note-ended.ts'

export { SEALED_BODIES } from './bodies/body-writer.ts'
export type { BodyPolicy } from './bodies/body-policies.ts'
export { createDataRetention, nameRetention, type DataRetention } from './bodies/data-retention.ts'
export {
  openStoredBodies,
  type RequestBodies,
  type StoredBodies,
  type StoredBody,
} from './bodies/stored-bodies.ts'
export { LOG_OUTCOMES, type LogEntry } from './log-entry.ts'
export type { LogPage, LogQuery } from './list-entries.ts'
export type { LogFilter } from './log-parts.ts'

/** The requests of accounts, one entry each. */
export interface RequestLog {
  /** Returns entries, newest first. */
  list(query: LogQuery): Promise<LogPage>
  /** Throws `not_found` for a request of another account, or of a key that the reader does not see. */
  read(reader: Reader, requestUuid: string): Promise<LogEntry>
  /** Logs a request that has ended without a charge. Charged ones are logged with their usage. */
  noteEnded(request: EndedRequest): void
  /** Call it after all requests have ended. */
  close(): Promise<void>
}

interface RequestLogOptions extends FailedRequestsOptions {
  readonly usage: Pick<Usage, 'postCharges' | 'findSpan'>
}

export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { database, usage } = options
  const failed = new FailedRequests(options)
  return {
    list: async (query) => {
      const [span] = await Promise.all([findSpan(usage, query), failed.flush()])
      const charged = span === null ? [] : [{ part: CHARGED, range: span }]
      return listEntries(database, [...charged, { part: FAILED, range: query.range }], query)
    },
    read: async (reader, requestUuid) => {
      await Promise.all([usage.postCharges(), failed.flush()])
      const page = { limit: 1, afterId: null }
      const query = { ...reader, range: ALL_TIME, filter: {}, requestUuid, page }
      const { entries } = await listEntries(database, EVERYTHING, query)
      const [entry] = entries
      if (entry === undefined) throw notFound('request')
      return entry
    },
    noteEnded: (request) => {
      const entry = toFailedRequest(request)
      if (entry !== null) failed.note(entry)
    },
    close: () => failed.close(),
  }
}

/** Up to the year 9999. */
const ALL_TIME = { fromMs: 0, toMs: 253_370_764_800_000 }
const EVERYTHING = [CHARGED, FAILED].map((part) => ({ part, range: ALL_TIME }))

/** Filters that the rollups have narrow the range, so that a model that was last used a year ago is found at once. */
async function findSpan(usage: RequestLogOptions['usage'], query: LogQuery) {
  const { accountId, projectId, ownKeyId, range } = query
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
  if (ownKeyId !== null || Object.keys(filter).length > 0) {
    const found = await usage.findSpan({ accountId, projectId, ownKeyId, range, filter })
    // A tag beyond the limit of its day has no sums of its own.
    return found?.span ?? (label === undefined ? null : range)
  }
  await usage.postCharges()
  return query.range
}
