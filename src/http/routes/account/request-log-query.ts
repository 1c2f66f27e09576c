import { Type, type Static } from 'typebox'
import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import {
  LOG_OUTCOMES,
  type LogFilter,
  type LogQuery,
  type LogReader,
} from '../../../modules/request-log/request-log.ts'
import { parsePageRequest } from '../../answers/list-page.ts'
import { parseUsd, USD_MAX } from '../../parameters/parse-usd.ts'
import { parseFilter, parseRecordsRange, RecordsQuery, Text } from './usage-query.ts'

const LATENCY_MS_MAX = 2_147_483_647

export const RequestsQuery = Type.Object({
  ...RecordsQuery.properties,
  operation: Type.Optional(Text('Only this operation: `chat`, `embedding`, `image` and so on.')),
  outcome: Type.Optional(Type.Enum([...LOG_OUTCOMES], { description: 'Only requests that ended this way.' })),
  http_status: Type.Optional(
    Type.Integer({ minimum: 100, maximum: 599, description: 'Only answers with this status.' }),
  ),
  error_code: Type.Optional(Text('Only requests that ended with this `code` of an error.')),
  error: Type.Optional(Text('Only requests whose error has this in its `code` or `message`, in any case.')),
  attempted_provider: Type.Optional(
    Text('Only requests that called this provider, also if another one answered.'),
  ),
  min_latency_ms: Type.Optional(
    Type.Integer({ minimum: 0, maximum: LATENCY_MS_MAX, description: 'Only requests that took this long.' }),
  ),
  min_cost_usd: Type.Optional(
    Type.Number({ minimum: 0, maximum: USD_MAX, description: 'Only requests that cost this much.' }),
  ),
  request_id: Type.Optional(Text('Only the request with this `x-request-id`.')),
})

const accountField = { account_id: Type.String({ description: 'The id of an account.' }) }
export const AccountQuery = Type.Object(accountField)

export const RequestParams = Type.Object({
  request_id: Type.String({ description: 'The `x-request-id` of an answer, or its digits as a UUID.' }),
})

export function parseLogQuery(
  reader: LogReader,
  query: Static<typeof RequestsQuery>,
  nowMs: number,
): LogQuery {
  const requestUuid = query.request_id === undefined ? null : uuidOf(query.request_id)
  if (requestUuid === undefined) throw invalidValue('request_id', 'request_id must be the id of a request.')
  return {
    ...reader,
    range: parseRecordsRange(query, nowMs),
    filter: parseLogFilter(query),
    requestUuid,
    page: parsePageRequest(query),
  }
}

function parseLogFilter(query: Static<typeof RequestsQuery>): LogFilter {
  return {
    ...parseFilter(query),
    ...(query.operation !== undefined && { operation: query.operation }),
    ...(query.outcome !== undefined && { outcome: query.outcome }),
    ...(query.http_status !== undefined && { httpStatus: query.http_status }),
    ...(query.error_code !== undefined && { errorCode: query.error_code }),
    ...(query.error !== undefined && { errorText: query.error }),
    ...(query.attempted_provider !== undefined && { attemptedProvider: query.attempted_provider }),
    ...(query.min_latency_ms !== undefined && { latencyMsMin: query.min_latency_ms }),
    ...(query.min_cost_usd !== undefined && { costNanoUsdMin: parseUsd('min_cost_usd', query.min_cost_usd) }),
  }
}

/** Throws `not_found` for a text that is no id. */
export function parseRequestId(text: string): string {
  const uuid = uuidOf(text)
  if (uuid === undefined) throw notFound('request')
  return uuid
}

/** Throws `not_found` for a text that is no id. */
export function parseAccountId(text: string): string {
  if (!isUuid(text)) throw notFound('account')
  return text
}

const REQUEST_ID = /^req_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i

function uuidOf(text: string): string | undefined {
  const digits = REQUEST_ID.exec(text)?.slice(1).join('-')
  return (digits ?? (isUuid(text) ? text : undefined))?.toLowerCase()
}
