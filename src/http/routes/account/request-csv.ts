import { Type } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { tagsOf } from '../../../modules/keys/keys.ts'
import type { LogEntry } from '../../../modules/request-log/request-log.ts'
import { csvRow } from '../../answers/csv-row.ts'

/** The query of a list of requests that is also a file. */
export const RequestFormat = Type.Object({
  format: Type.Optional(
    Type.Enum(['json', 'csv'], {
      default: 'json',
      description:
        'A page as JSON, or all requests that match as a file (`csv`), without `limit` and `after`.',
    }),
  ),
})

export const REQUESTS_CSV = {
  otherTypes: { 'text/csv': Type.String({ description: 'One row a request.' }) },
} as const

const COLUMNS = [
  'created_at',
  'request_id',
  'outcome',
  'http_status',
  'error_code',
  'error_message',
  'operation',
  'requested_model',
  'model',
  'provider',
  'env',
  'key_id',
  'key',
  'tags',
  'user',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'latency_ms',
  'ttft_ms',
  'attempts',
  'cost_usd',
]

interface RequestsCsv {
  /** Of several accounts, a row says whose it is. */
  readonly hasAccounts: boolean
}

/** Writes requests as lines, newest first. Tags are written as in the header: `team=search,feature=chat`. */
export async function* writeRequestsCsv(
  parts: AsyncIterable<readonly LogEntry[]>,
  { hasAccounts }: RequestsCsv,
): AsyncGenerator<string, void> {
  yield csvRow(hasAccounts ? [...COLUMNS, 'account_id', 'account'] : COLUMNS)
  for await (const entries of parts)
    yield entries
      .map((entry) =>
        csvRow([...cellsOf(entry), ...(hasAccounts ? [entry.accountId, entry.accountName] : [])]),
      )
      .join('')
}

function cellsOf(entry: LogEntry): Parameters<typeof csvRow>[0] {
  return [
    toTimestamp(entry.createdAtMs),
    `req_${entry.id.replaceAll('-', '')}`,
    entry.outcome,
    entry.httpStatus,
    entry.errorCode,
    entry.errorMessage,
    entry.operation,
    entry.requestedModel,
    entry.model || null,
    entry.provider || null,
    entry.environment,
    entry.keyId,
    entry.keyName,
    [...tagsOf(entry.labels)].map(([name, value]) => `${name}=${value}`).join(','),
    entry.endUser,
    entry.promptTokens,
    entry.cachedTokens,
    entry.completionTokens,
    entry.reasoningTokens,
    entry.latencyMs,
    entry.firstTokenMs,
    entry.attempts?.length,
    { nanoUsd: entry.costNanoUsd },
  ]
}
