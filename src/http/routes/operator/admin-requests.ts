import { Type } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import type { RequestLog, StoredBodies } from '../../../modules/request-log/request-log.ts'
import type { Tasks } from '../../../modules/tasks/tasks.ts'
import { ofGateway } from '../../access.ts'
import { sendCsv } from '../../answers/send-csv.ts'
import { defineRoute, type Route } from '../../route.ts'
import { REQUESTS_CSV, RequestFormat, writeRequestsCsv } from '../account/request-csv.ts'
import { parseRequestId, RequestParams } from '../account/request-log-query.ts'
import { parseRange, RangeQuery, Text } from '../account/usage-query.ts'
import {
  adminEntryToWire,
  AdminRequestAnswer,
  AdminRequestPageAnswer,
  adminRequestToWire,
  ErrorGroupsAnswer,
  groupToWire,
} from './admin-request-wire.ts'
import {
  accountField,
  AdminRequestsQuery,
  parseAdminQuery,
  readerOf,
  readerOfQuery,
} from './admin-requests-query.ts'

const GROUPS_MAX = 200
const GROUPS_USUAL = 50

const ErrorsQuery = Type.Object({
  ...RangeQuery.properties,
  ...accountField,
  key: Type.Optional(Text('Only errors of this API key, by its id.')),
  model: Type.Optional(Text('Only errors of this model.')),
  provider: Type.Optional(Text('Only errors of this provider.')),
  outcome: Type.Optional(
    Type.Enum(['failed', 'refused', 'disconnected'], { description: 'Only requests that ended this way.' }),
  ),
  error: Type.Optional(Text('Only errors with this in their code or message, also of the upstream.')),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: GROUPS_MAX,
      default: GROUPS_USUAL,
      description: 'How many groups at most.',
    }),
  ),
})

interface AdminRequestParts {
  readonly requestLog: RequestLog
  readonly storedBodies: Pick<StoredBodies, 'has'>
  readonly tasks: Pick<Tasks, 'findOfRequest'>
  readonly accounts: Pick<Accounts, 'read'>
  readonly clock: Clock
  readonly logger: Logger
}

const shared = { method: 'GET', tag: 'Operator', access: ofGateway('gateway.read') } as const

/** The requests of all accounts, for operators. */
export const adminRequestRoutes = (parts: AdminRequestParts): Route[] => [
  defineRoute({
    ...shared,
    path: '/v1/admin/requests',
    mayBeOld: true,
    summary: 'List requests of all accounts',
    query: Type.Object({ ...AdminRequestsQuery.properties, ...RequestFormat.properties }),
    otherErrors: [404, 503],
    responses: {
      200: {
        description: 'One entry a request, newest first.',
        schema: AdminRequestPageAnswer,
        ...REQUESTS_CSV,
      },
    },
    handle: async ({ query, reply, exchange }) => {
      const reader = await readerOfQuery(parts.accounts, query.account_id)
      const asked = parseAdminQuery(reader, query, parts.clock.nowMs())
      if (query.format === 'csv') {
        const pieces = writeRequestsCsv(parts.requestLog.walk(asked), { hasAccounts: true })
        const { cancellation } = exchange
        return sendCsv(reply, { name: 'requests.csv', pieces, logger: parts.logger, cancellation })
      }
      const { entries, nextCursor } = await parts.requestLog.list(asked)
      const data = entries.map(adminEntryToWire)
      return { object: 'list', data, requests: data, has_more: nextCursor !== null, next_cursor: nextCursor }
    },
  }),
  defineRoute({
    ...shared,
    path: '/v1/admin/requests/:request_id',
    summary: 'Read a request of any account',
    params: RequestParams,
    query: Type.Object(accountField),
    otherErrors: [503],
    responses: {
      200: { description: 'The request with its attempts, timings and errors.', schema: AdminRequestAnswer },
    },
    handle: async ({ params, query }) => {
      const { requestLog, tasks, storedBodies } = parts
      const reader = readerOf(query.account_id)
      const entry = await requestLog.read(reader, parseRequestId(params.request_id))
      const { accountId, id } = entry
      const [task, isBodyStored] = await Promise.all([
        tasks.findOfRequest({ accountId, projectId: null }, id),
        storedBodies.has(accountId, id),
      ])
      return adminRequestToWire(entry, task, isBodyStored)
    },
  }),
  defineRoute({
    ...shared,
    path: '/v1/admin/request_errors',
    mayBeOld: true,
    summary: 'List equal errors',
    query: ErrorsQuery,
    otherErrors: [404],
    responses: { 200: { description: 'The most frequent first.', schema: ErrorGroupsAnswer } },
    handle: async ({ query }) => {
      const { accountId } = await readerOfQuery(parts.accounts, query.account_id)
      if (query.key !== undefined && !isUuid(query.key))
        throw invalidValue('key', 'key must be the id of an API key, not the key.')
      const { range } = parseRange(query, { usual: '24h', nowMs: parts.clock.nowMs() })
      const { groups, requests, hasMore } = await parts.requestLog.listErrors({
        // Clocks of processes differ a little.
        range: range.isUntilNow === true ? { ...range, toMs: range.toMs + CLOCK_MARGIN_MS } : range,
        accountId,
        keyId: query.key ?? null,
        model: query.model ?? null,
        provider: query.provider ?? null,
        outcome: query.outcome ?? null,
        text: query.error ?? null,
        limit: query.limit ?? GROUPS_USUAL,
      })
      return { object: 'list', data: groups.map(groupToWire), requests, has_more: hasMore }
    },
  }),
]

const CLOCK_MARGIN_MS = 60_000
