import { Type } from 'typebox'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import { readerOfAccount } from '../../../modules/keys/keys.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  AccountSpendingQuery,
  parseFilter,
  parseGroupLimit,
  parseRange,
  TimeseriesQuery,
} from '../account/usage-query.ts'
import {
  AccountSpendingAnswer,
  rangeToWire,
  spendingToWire,
  TimeseriesAnswer,
} from '../account/usage-wire.ts'
import { describeTimeseries, type UsageParts } from '../account/usage.ts'

const AccountParams = Type.Object({ id: Type.String({ description: 'The id of an account.' }) })

interface AdminUsageParts extends UsageParts {
  readonly accounts: Pick<Accounts, 'read'>
}

/** Operator routes for the usage of all accounts, and of one. */
export const adminUsageRoutes = ({ accounts, usage, clock }: AdminUsageParts): Route[] => {
  const shared = { method: 'GET', tag: 'Operator', access: ofGateway('gateway.read') } as const
  return [
    defineRoute({
      ...shared,
      path: '/v1/admin/usage',
      summary: 'Read what every account spent',
      query: AccountSpendingQuery,
      responses: { 200: { description: 'The dearest first, with shares.', schema: AccountSpendingAnswer } },
      handle: async ({ query }) => {
        const { range } = parseRange(query, { usual: '30d', nowMs: clock.nowMs() })
        const [filter, limit] = [parseFilter(query), parseGroupLimit(query.limit)]
        const spending = await usage.readSpendingOfAccounts({ range, filter, limit })
        return {
          object: 'usage.accounts',
          ...rangeToWire(range),
          ...spendingToWire(spending, ({ value, name }) => ({ tenant_id: value, name })),
        }
      },
    }),
    defineRoute({
      ...shared,
      path: '/v1/admin/accounts/:id/usage/timeseries',
      summary: 'Read the usage of an account by hour or day',
      params: AccountParams,
      query: TimeseriesQuery,
      responses: { 200: { description: 'Every bucket of the range.', schema: TimeseriesAnswer } },
      handle: async ({ params, query }) => {
        const { id } = await accounts.read(params.id)
        return describeTimeseries({ usage, clock }, readerOfAccount(id), query)
      },
    }),
  ]
}
