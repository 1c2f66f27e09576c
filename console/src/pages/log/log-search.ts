import { KEY_ENVIRONMENTS } from '../../api/keys.ts'
import { readPeriod, REQUEST_OUTCOMES, type RequestFilters } from '../../api/requests.ts'

export interface LogSearch extends RequestFilters {
  /** The id of the request whose details are open. */
  readonly request?: string | undefined
}

const TEXTS = [
  'model',
  'provider',
  'key',
  'operation',
  'error_code',
  'error',
  'attempted_provider',
  'request_id',
  'request',
  'tag',
  'project_id',
] as const
const NUMBERS = ['http_status', 'min_latency_ms', 'min_cost_usd'] as const

/** Takes the filters that the log knows from the address, and drops the rest. */
export function readLogSearch(search: Record<string, unknown>): LogSearch {
  const pick = <Value extends string>(known: readonly Value[], name: string): Value | undefined =>
    known.find((value) => value === search[name])
  const texts = TEXTS.flatMap((name) => {
    const value = search[name]
    return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as const] : []
  })
  const numbers = NUMBERS.flatMap((name) => {
    const value = Number(search[name] ?? Number.NaN)
    return Number.isFinite(value) && value >= 0 ? [[name, value] as const] : []
  })
  const [outcome, env] = [pick(REQUEST_OUTCOMES, 'outcome'), pick(KEY_ENVIRONMENTS, 'env')]
  return {
    ...Object.fromEntries([...texts, ...numbers]),
    ...readPeriod(search),
    ...(outcome && { outcome }),
    ...(env && { env }),
  }
}

/** The part of the address that decides which requests are listed. */
export function filtersOf(search: LogSearch): RequestFilters {
  const { request: _, ...filters } = search
  return filters
}
