import type { LoggedRequest } from '../../api/requests.ts'
import { writeCsv } from '../../ui/data/write-csv.ts'

const COLUMNS = [
  'created_at',
  'request_id',
  'outcome',
  'http_status',
  'error_code',
  'operation',
  'model',
  'provider',
  'env',
  'key_id',
  'tags',
  'prompt_tokens',
  'completion_tokens',
  'latency_ms',
  'cost_usd',
] as const

/** Writes the requests that the page has read as lines. Tags are written as in the header: `team=search,feature=chat`. */
export function writeLogCsv(requests: readonly LoggedRequest[]): string {
  return writeCsv(
    COLUMNS,
    requests.map((request) => ({
      ...request,
      tags: Object.entries(request.tags ?? {})
        .map(([name, value]) => `${name}=${value}`)
        .join(','),
    })),
  )
}
