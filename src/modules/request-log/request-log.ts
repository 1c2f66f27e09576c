import { notFound } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Usage, UsageFilter } from '../usage/usage.ts'
import { listEntries, type LogPage, type LogQuery } from './list-entries.ts'
import type { LogEntry } from './log-entry.ts'
import { CHARGED } from './log-parts.ts'

export { LOG_OUTCOMES, type LogEntry } from './log-entry.ts'
export type { LogPage, LogQuery } from './list-entries.ts'
export type { LogFilter } from './log-parts.ts'

/** The requests of accounts, one entry each. */
export interface RequestLog {
  /** Returns entries, newest first. */
  list(query: LogQuery): Promise<LogPage>
  /** Throws `not_found` for a request of another account. */
  read(accountId: string, requestUuid: string): Promise<LogEntry>
}

interface RequestLogOptions {
  readonly database: Queryable
  readonly usage: Pick<Usage, 'postCharges' | 'findSpan'>
}

export function createRequestLog({ database, usage }: RequestLogOptions): RequestLog {
  return {
    list: async (query) => {
      const span = await findSpan(usage, query)
      return listEntries(database, span === null ? [] : [{ part: CHARGED, range: span }], query)
    },
    read: async (accountId, requestUuid) => {
      await usage.postCharges()
      const page = { limit: 1, afterId: null }
      const query = { accountId, range: ALL_TIME, filter: {}, requestUuid, page }
      const { entries } = await listEntries(database, [{ part: CHARGED, range: ALL_TIME }], query)
      const [entry] = entries
      if (entry === undefined) throw notFound('request')
      return entry
    },
  }
}

/** Up to the year 9999. */
const ALL_TIME = { fromMs: 0, toMs: 253_370_764_800_000 }

/** Filters that the rollups have narrow the range, so that a model that was last used a year ago is found at once. */
async function findSpan(usage: RequestLogOptions['usage'], query: LogQuery) {
  const { keyId, model, provider, environment, operation } = query.filter
  const filter: UsageFilter = {
    ...(keyId !== undefined && { keyId }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(environment !== undefined && { environment }),
    ...(operation !== undefined && { operation }),
  }
  if (Object.keys(filter).length > 0) {
    const found = await usage.findSpan({ accountId: query.accountId, range: query.range, filter })
    return found?.span ?? null
  }
  await usage.postCharges()
  return query.range
}
