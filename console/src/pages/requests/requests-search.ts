import type { AdminRequestFilters } from '../../api/admin-requests.ts'
import { KEY_ENVIRONMENTS } from '../../api/keys.ts'
import { readPeriod, REQUEST_OUTCOMES } from '../../api/requests.ts'

const REQUEST_VIEWS = ['list', 'errors', 'tail'] as const
export type RequestView = (typeof REQUEST_VIEWS)[number]

export interface RequestsSearch extends AdminRequestFilters {
  readonly view?: RequestView | undefined
  /** The id of the request whose details are open. */
  readonly request?: string | undefined
}

const TEXTS = [
  'account_id',
  'model',
  'provider',
  'attempted_provider',
  'key',
  'operation',
  'error',
  'error_code',
  'error_key',
  'request_id',
  'request',
  'tag',
  'project_id',
] as const
const NUMBERS = ['http_status', 'min_latency_ms', 'min_cost_usd'] as const

/** Takes the filters that the page knows from the address, and drops the rest. */
export function readRequestsSearch(search: Record<string, unknown>): RequestsSearch {
  const pick = <Value extends string>(name: string, known: readonly Value[]) =>
    known.filter((value) => value === search[name]).map((value) => [name, value] as const)
  const texts = TEXTS.flatMap((name) => {
    const value = search[name]
    const isGiven = (typeof value === 'string' && value !== '') || typeof value === 'number'
    return isGiven ? [[name, String(value)] as const] : []
  })
  const numbers = NUMBERS.flatMap((name) => {
    const value = Number(search[name] ?? Number.NaN)
    return Number.isFinite(value) && value >= 0 ? [[name, value] as const] : []
  })
  return Object.fromEntries([
    ...texts,
    ...numbers,
    ...Object.entries(readPeriod(search)),
    ...pick('outcome', REQUEST_OUTCOMES),
    ...pick('env', KEY_ENVIRONMENTS),
    ...pick('view', REQUEST_VIEWS),
  ])
}

/** The part of the address that decides which requests are listed. */
export function filtersOf({
  view: _view,
  request: _request,
  ...filters
}: RequestsSearch): AdminRequestFilters {
  return filters
}
