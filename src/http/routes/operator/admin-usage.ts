import { Type } from 'typebox'
import type { Clock } from '../../../kernel/clock.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import { readerOfAccount } from '../../../modules/keys/keys.ts'
import type { GatewayQuery, Usage } from '../../../modules/usage/usage.ts'
import { ofGateway } from '../../access.ts'
import { sendCsv } from '../../answers/send-csv.ts'
import { defineRoute, type Route } from '../../route.ts'
import { chooseGranularity, TimeseriesQuery } from '../account/usage-query.ts'
import { shiftRange } from '../account/usage-summary.ts'
import { rangeToWire, TimeseriesAnswer } from '../account/usage-wire.ts'
import { describeTimeseries } from '../account/usage.ts'
import {
  GatewayTimeseriesQuery,
  GatewayUsageQuery,
  parseGatewayLimit,
  parseGatewayQuery,
} from './admin-usage-query.ts'
import {
  GatewayTimeseriesAnswer,
  gatewayTimeseriesToWire,
  GatewayUsageAnswer,
  gatewayUsageToWire,
  writeUsageCsv,
} from './admin-usage-wire.ts'

const AccountParams = Type.Object({ id: Type.String({ description: 'The id of an account.' }) })

interface AdminUsageParts {
  readonly usage: Usage
  readonly clock: Clock
  readonly accounts: Pick<Accounts, 'read'>
  /** The regions of providers, as one text each. */
  readonly listRegions: () => GatewayQuery['regions']
  /** Makes errors that this process has counted visible. */
  readonly storeErrors: () => Promise<void>
  readonly logger: Logger
}

const shared = { method: 'GET', tag: 'Operator', access: ofGateway('gateway.read') } as const

const EXPORTED_GROUPS_MAX = 20_000

/** Operator routes for the usage of all accounts, and of one. */
export const adminUsageRoutes = (parts: AdminUsageParts): Route[] => [
  groupsRoute(parts),
  timeseriesRoute(parts),
  defineRoute({
    ...shared,
    path: '/v1/admin/accounts/:id/usage/timeseries',
    mayBeOld: true,
    summary: 'Read the usage of an account by hour or day',
    params: AccountParams,
    query: TimeseriesQuery,
    responses: { 200: { description: 'Every bucket of the range.', schema: TimeseriesAnswer } },
    handle: async ({ params, query }) => {
      const { id } = await parts.accounts.read(params.id)
      return describeTimeseries(parts, readerOfAccount(id), query)
    },
  }),
]

const groupsRoute = ({ usage, clock, accounts, listRegions, storeErrors, logger }: AdminUsageParts): Route =>
  defineRoute({
    ...shared,
    path: '/v1/admin/usage',
    mayBeOld: true,
    summary: 'Read the usage of all accounts in groups',
    query: GatewayUsageQuery,
    otherErrors: [404],
    responses: {
      200: {
        description: 'The largest groups first, with the time before, errors and latencies.',
        schema: GatewayUsageAnswer,
        otherTypes: { 'text/csv': Type.String({ description: 'One row a group.' }) },
      },
    },
    handle: async ({ query, reply, exchange: { cancellation } }) => {
      const parsed = parseGatewayQuery(query, { usual: '30d', nowMs: clock.nowMs(), regions: listRegions() })
      if (parsed.accountId !== null) await accounts.read(parsed.accountId)
      const { range } = parsed
      const isFile = query.format === 'csv'
      const wanted = {
        ...parsed,
        by: parsed.by ?? 'account',
        asked: query.by ?? 'account',
        previousRange: shiftRange(range, range.toMs - range.fromMs),
        order: query.order ?? 'cost',
        limit: isFile ? EXPORTED_GROUPS_MAX : parseGatewayLimit(query.limit),
      }
      await storeErrors()
      if (!isFile) return gatewayUsageToWire(await usage.ofGateway.read(wanted), wanted)
      await usage.postCharges()
      const pieces = writeUsageCsv(wanted, usage.ofGateway.export(wanted))
      return sendCsv(reply, { name: `usage-by-${wanted.by}.csv`, pieces, logger, cancellation })
    },
  })

const timeseriesRoute = ({ usage, clock, accounts, listRegions }: AdminUsageParts): Route =>
  defineRoute({
    ...shared,
    path: '/v1/admin/usage/timeseries',
    mayBeOld: true,
    summary: 'Read the usage of all accounts by hour or day',
    query: GatewayTimeseriesQuery,
    otherErrors: [404],
    responses: { 200: { description: 'Every bucket of the range.', schema: GatewayTimeseriesAnswer } },
    handle: async ({ query }) => {
      const usual = query.granularity === 'day' ? '30d' : '24h'
      const parsed = parseGatewayQuery(query, { usual, nowMs: clock.nowMs(), regions: listRegions() })
      if (parsed.accountId !== null) await accounts.read(parsed.accountId)
      const granularity = chooseGranularity(query.granularity, parsed.range)
      const timeseries = await usage.ofGateway.readTimeseries({ ...parsed, granularity })
      return {
        object: 'usage.timeseries',
        ...rangeToWire(parsed.range),
        granularity,
        by: query.by ?? null,
        ...gatewayTimeseriesToWire(timeseries, parsed),
      }
    },
  })
