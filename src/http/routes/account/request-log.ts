import { Type } from 'typebox'
import type { Clock } from '../../../kernel/clock.ts'
import type { Logger } from '../../../kernel/logger.ts'
import { readerOf, type Reader } from '../../../modules/keys/keys.ts'
import type { LogPage, RequestLog, StoredBodies } from '../../../modules/request-log/request-log.ts'
import type { Tasks } from '../../../modules/tasks/tasks.ts'
import { ANY_KEY } from '../../access.ts'
import { sendCsv } from '../../answers/send-csv.ts'
import { defineRoute, type Route } from '../../route.ts'
import { RequestFormat, REQUESTS_CSV, writeRequestsCsv } from './request-csv.ts'
import { parseLogQuery, parseRequestId, RequestParams, RequestsQuery } from './request-log-query.ts'
import { entryToWire, RequestAnswer, RequestPageAnswer, requestToWire } from './request-log-wire.ts'

interface RequestLogParts {
  readonly requestLog: RequestLog
  readonly storedBodies: Pick<StoredBodies, 'has'>
  readonly tasks: Pick<Tasks, 'findOfRequest'>
  readonly clock: Clock
  readonly logger: Logger
}

const page = {
  200: { description: 'One entry a request, newest first.', schema: RequestPageAnswer, ...REQUESTS_CSV },
}
const one = { 200: { description: 'The request with its attempts and timings.', schema: RequestAnswer } }

export const requestLogRoutes = (parts: RequestLogParts): Route[] => [
  defineRoute({
    method: 'GET',
    tag: 'Usage',
    path: '/v1/requests',
    mayBeOld: true,
    access: ANY_KEY,
    summary: 'List requests',
    query: Type.Object({ ...RequestsQuery.properties, ...RequestFormat.properties }),
    responses: page,
    handle: async ({ caller, query, reply, exchange }) => {
      const asked = parseLogQuery(readerOf(caller, 'log.read'), query, parts.clock.nowMs())
      if (query.format !== 'csv') return pageToWire(await parts.requestLog.list(asked))
      const pieces = writeRequestsCsv(parts.requestLog.walk(asked), { hasAccounts: false })
      const { cancellation } = exchange
      return sendCsv(reply, { name: 'requests.csv', pieces, logger: parts.logger, cancellation })
    },
  }),
  defineRoute({
    method: 'GET',
    tag: 'Usage',
    path: '/v1/requests/:request_id',
    access: ANY_KEY,
    summary: 'Read a request',
    params: RequestParams,
    responses: one,
    handle: ({ caller, params }) =>
      readRequest(parts, readerOf(caller, 'log.read'), parseRequestId(params.request_id)),
  }),
]

async function readRequest(
  { requestLog, storedBodies, tasks }: RequestLogParts,
  reader: Reader,
  uuid: string,
) {
  const entry = await requestLog.read(reader, uuid)
  const [task, isBodyStored] = await Promise.all([
    tasks.findOfRequest(reader, uuid),
    storedBodies.has(reader.accountId, uuid),
  ])
  return requestToWire(entry, task, isBodyStored)
}

function pageToWire({ entries, nextCursor }: LogPage) {
  const data = entries.map(entryToWire)
  return { object: 'list', data, requests: data, has_more: nextCursor !== null, next_cursor: nextCursor }
}
