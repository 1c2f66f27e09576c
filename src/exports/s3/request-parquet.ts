import type { ArchivedColumn, ArchivedRow, ArchivedTable } from '../../storage/archive/archived-tables.ts'
import { writeParquet } from '../../storage/archive/write-parquet.ts'
import type { ExportedRequest } from '../exported-request.ts'
import type { ExportedItem } from '../export-sink.ts'

type ColumnType = ArchivedColumn['type']

/** Every member of a request. One that may be null has a question mark. */
const COLUMNS: Readonly<Record<Exclude<keyof ExportedRequest, 'object'>, ColumnType | `${ColumnType}?`>> = {
  number: 'integer',
  request_id: 'text',
  created_at: 'time',
  recorded_at: 'time',
  account_id: 'text',
  account_name: 'text?',
  project_id: 'text?',
  key_id: 'text',
  key_name: 'text?',
  env: 'text',
  operation: 'text',
  requested_model: 'text?',
  model: 'text?',
  provider: 'text?',
  gen_ai_operation: 'text',
  gen_ai_provider: 'text?',
  outcome: 'text',
  charged: 'integer',
  http_status: 'integer?',
  error_code: 'text?',
  error_message: 'text?',
  upstream_status: 'integer?',
  upstream_code: 'text?',
  upstream_message: 'text?',
  stream: 'integer?',
  batch: 'integer',
  latency_ms: 'integer',
  ttft_ms: 'integer?',
  prompt_tokens: 'integer',
  cached_tokens: 'integer',
  cache_write_tokens: 'integer',
  completion_tokens: 'integer',
  reasoning_tokens: 'integer',
  units: 'integer',
  cost_nano_usd: 'integer',
  promotional_nano_usd: 'integer',
  uncovered_nano_usd: 'integer',
  vendor_cost_nano_usd: 'integer?',
  user: 'text?',
  client_request_id: 'text?',
  attempts: 'integer?',
  tags: 'text',
}

const TABLE: Pick<ArchivedTable, 'name' | 'schemaVersion' | 'columns'> = {
  name: 'requests',
  schemaVersion: 1,
  columns: Object.entries(COLUMNS).map(([name, type]) => ({
    name,
    type: typeOf(type),
    ...(type.endsWith('?') ? { isOptional: true as const } : {}),
  })),
}

/** Yields the bytes of a Parquet file with these requests. Booleans are 0 and 1, tags are JSON. */
export function writeRequestParquet(items: readonly ExportedItem[]): AsyncGenerator<Uint8Array, void> {
  return writeParquet(TABLE, toRows(items))
}

async function* toRows(items: readonly ExportedItem[]): AsyncGenerator<readonly ArchivedRow[], void> {
  yield items.map(({ request }) =>
    Object.fromEntries(
      TABLE.columns.map(({ name, type }) => [name, toValue(Reflect.get(request, name), type)]),
    ),
  )
}

function toValue(value: unknown, type: ColumnType): string | bigint | null {
  if (value === null || value === undefined) return null
  if (type === 'integer') return BigInt(Number(value))
  if (type === 'time') return BigInt(typeof value === 'string' ? Date.parse(value) : Number(value)) * 1000n
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function typeOf(type: string): ColumnType {
  const plain = type.replace('?', '')
  return plain === 'integer' || plain === 'time' ? plain : 'text'
}
