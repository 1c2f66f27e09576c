import { call, client } from './client.ts'
import { cursorPages } from './cursor-pages.ts'

export type AuditEntry = Awaited<ReturnType<typeof fetchAudit>>['data'][number]

/** The nouns of actions, which filter by all that is done to such things. */
export const AUDITED_NOUNS = [
  'account',
  'api_key',
  'budget',
  'config',
  'credit',
  'identity_provider',
  'limits',
  'model',
  'operator',
  'payment',
  'price',
  'price_adjustment',
  'promo_code',
  'provider',
  'request',
  'user',
] as const

/** The filters of the audit log of operators. What is absent does not filter. */
export interface OperatorAuditFilters {
  /** The id of what was changed. */
  readonly target?: string | undefined
  readonly account?: string | undefined
  /** An id, or an e-mail address. */
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly search?: string | undefined
  /** Days of UTC. */
  readonly since?: string | undefined
  /** Included. */
  readonly until?: string | undefined
}

export const auditQuery = (filters: OperatorAuditFilters) =>
  cursorPages({
    queryKey: ['audit', filters],
    fetchPage: (after, signal) => fetchAudit(filters, after, signal),
  })

/** Where all entries that match are downloaded as a file. */
export function auditFileUrl(filters: OperatorAuditFilters): string {
  const given = Object.entries({ ...queryOf(filters), format: 'csv' })
  return `/v1/admin/audit?${new URLSearchParams(given.flatMap(([name, value]) => (value ? [[name, value]] : [])))}`
}

const DAY_MS = 86_400_000

function queryOf({ target, account, until, ...filters }: OperatorAuditFilters) {
  return {
    ...filters,
    target_id: target,
    account_id: account,
    until: until && new Date(Date.parse(until) + DAY_MS).toISOString(),
  }
}

async function fetchAudit(filters: OperatorAuditFilters, after: string | undefined, signal: AbortSignal) {
  const query = { ...queryOf(filters), after, limit: 100 }
  const answer = await call(() => client.GET('/v1/admin/audit', { params: { query }, signal }))
  if (typeof answer === 'string') throw new TypeError('the log is no JSON')
  return answer
}
