import { call, client, type Schemas } from './client.ts'
import { cursorPages } from './cursor-pages.ts'

export type LedgerEntry = Schemas['LedgerEntry']

export const ENTRY_KIND_NAMES: Readonly<Record<LedgerEntry['kind'], string>> = {
  grant: 'Credit added',
  charge: 'Charge',
  reverse: 'Taken back',
  deduct: 'Deducted',
  expire: 'Expired',
}

export const ENTRY_KINDS: readonly LedgerEntry['kind'][] = ['grant', 'charge', 'reverse', 'deduct', 'expire']

export interface LedgerFilters {
  readonly kind?: LedgerEntry['kind'] | undefined
  /** Days of UTC, both of them included. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** Every movement of the credit of the session's account, or for operators of any account, newest first. */
export const ledgerQuery = (filters: LedgerFilters, accountId?: string) =>
  cursorPages({
    queryKey: ['ledger', accountId ?? null, filters],
    fetchPage: (after, signal) => fetchPage({ filters, accountId, after }, signal),
  })

/** Where all movements are downloaded as a file. */
export function ledgerFileUrl(filters: LedgerFilters, accountId?: string): string {
  const given = Object.entries({ ...queryOf(filters), format: 'csv' })
  const query = new URLSearchParams(given.flatMap(([name, value]) => (value ? [[name, value]] : [])))
  return `${accountId === undefined ? '/v1/ledger' : `/v1/admin/accounts/${accountId}/ledger`}?${query}`
}

interface WantedPage {
  readonly filters: LedgerFilters
  readonly accountId: string | undefined
  readonly after: string | undefined
}

async function fetchPage({ filters, accountId, after }: WantedPage, signal: AbortSignal) {
  const query = { ...queryOf(filters), after, limit: 100 }
  const page = await call(() =>
    accountId === undefined
      ? client.GET('/v1/ledger', { params: { query }, signal })
      : client.GET('/v1/admin/accounts/{id}/ledger', { params: { path: { id: accountId }, query }, signal }),
  )
  if (typeof page === 'string') throw new TypeError('the ledger is no JSON')
  return page
}

const DAY_MS = 86_400_000

function queryOf({ kind, since, until }: LedgerFilters) {
  return {
    kind,
    since: since && `${since}T00:00:00Z`,
    until: until && new Date(Date.parse(`${until}T00:00:00Z`) + DAY_MS).toISOString(),
  }
}
