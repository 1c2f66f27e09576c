import type { Static } from 'typebox'
import { toTimestamp, type Clock } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { BudgetAlerts } from '../../../modules/budget-alerts/budget-alerts.ts'
import type { Deprecations } from '../../../modules/deprecations/deprecations.ts'
import { readerOf, type Caller, type Reader } from '../../../modules/keys/keys.ts'
import { subjectsOf } from '../../../modules/ledger/ledger.ts'
import { DAY_MS, floorDay, type Usage } from '../../../modules/usage/usage.ts'
import { listAnswer, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { ANY_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  chooseGranularity,
  parseFilter,
  parseGroup,
  parseGroupLimit,
  parseRange,
  parseRecordsRange,
  RangeQuery,
  refuseBesideTags,
  RecordsQuery,
  SpendingQuery,
  SummaryQuery,
  TimeseriesQuery,
  TodayQuery,
} from './usage-query.ts'
import { readDeprecationQuery } from '../offer/deprecation-wire.ts'
import { BudgetAnswer, budgetToWire } from './budget-wire.ts'
import { comparisonToWire } from './usage-anomalies.ts'
import { outlookToWire } from './outlook-wire.ts'
import { shiftRange, summaryToWire } from './usage-summary.ts'
import { RecordAnswer, recordToWire } from './usage-record-wire.ts'
import {
  bucketToWire,
  costToWire,
  GpuBillingAnswer,
  rangeToWire,
  SpendingAnswer,
  spendingToWire,
  SummaryAnswer,
  TimeseriesAnswer,
  timeseriesToWire,
  TodayAnswer,
} from './usage-wire.ts'

export interface UsageParts {
  readonly usage: Usage
  readonly clock: Clock
}

interface UsageRouteParts extends UsageParts {
  readonly budgetAlerts: Pick<BudgetAlerts, 'readReached'>
  readonly deprecations: Pick<Deprecations, 'listUsed'>
}

export const usageRoutes = (parts: UsageRouteParts): Route[] => [
  ...totalRoutes(parts),
  ...detailRoutes(parts),
]

const shared = { method: 'GET', tag: 'Usage', access: ANY_KEY } as const

const totalRoutes = ({ usage, clock, budgetAlerts, deprecations }: UsageRouteParts): Route[] => [
  defineRoute({
    ...shared,
    path: '/v1/usage/budget',
    summary: 'Read what the account may still spend',
    responses: { 200: { description: 'The month so far, and what remains.', schema: BudgetAnswer } },
    handle: async ({ caller }) => {
      const { accountId } = caller
      const [budget, reached, compared] = await Promise.all([
        usage.readBudget(budgetReaderOf(caller)),
        budgetAlerts.readReached(accountId),
        usage.compareWeekday(readerOf(caller, 'usage.read')),
      ])
      return budgetToWire(accountId, { budget, reached, compared })
    },
  }),
  defineRoute({
    ...shared,
    path: '/v1/usage/summary',
    mayBeOld: true,
    summary: 'Add up the usage of a time',
    query: SummaryQuery,
    responses: { 200: { description: 'Totals, averages and the time before.', schema: SummaryAnswer } },
    handle: async ({ caller, query }) => {
      const reader = readerOf(caller, 'usage.read')
      const { window, range } = parseRange(query, { usual: '30d', nowMs: clock.nowMs() })
      const previousRange = shiftRange(range, range.toMs - range.fromMs)
      refuseBesideTags(query)
      const filter = parseFilter(query)
      const comparison = await usage.compareTotals({ ...reader, range, filter }, previousRange)
      const summary = summaryToWire({ accountId: reader.accountId, window, range, previousRange, comparison })
      return { object: 'usage.summary', ...summary }
    },
  }),
  defineRoute({
    ...shared,
    path: '/v1/usage/today',
    summary: 'Add up the usage of today',
    query: TodayQuery,
    responses: {
      200: { description: 'The day of UTC so far, beside as much of yesterday.', schema: TodayAnswer },
    },
    handle: async ({ caller, query }) => {
      const reader = readerOf(caller, 'usage.read')
      const nowMs = clock.nowMs()
      // One more millisecond, so that the range is not empty exactly at midnight.
      const range = { fromMs: floorDay(nowMs), toMs: nowMs + 1, isUntilNow: true }
      const previousRange = shiftRange(range, DAY_MS)
      refuseBesideTags(query)
      const filter = parseFilter(query)
      const [comparison, { buckets }, burnRate, { outlook }, deprecated, compared] = await Promise.all([
        usage.compareTotals({ ...reader, range, filter }, previousRange),
        usage.readTimeseries({ ...reader, range, filter, granularity: 'hour', by: null }),
        usage.readBurnRate({ ...reader, filter }),
        usage.readBudget(budgetReaderOf(caller)),
        deprecations.listUsed(reader, readDeprecationQuery({})),
        usage.compareWeekday(reader),
      ])
      return {
        object: 'usage.today',
        date: toTimestamp(range.fromMs).slice(0, 10),
        ...summaryToWire({ accountId: reader.accountId, window: null, range, previousRange, comparison }),
        burn_rate_usd_per_hour: usdFromNanoUsd(burnRate),
        outlook: outlookToWire(outlook),
        anomaly: comparisonToWire(compared).anomaly,
        hours: buckets.map(bucketToWire),
        deprecated_models: deprecated.map(({ model }) => model.id),
      }
    },
  }),
]

function budgetReaderOf(caller: Caller) {
  return { ...readerOf(caller, 'usage.read'), subjects: [...subjectsOf(caller, caller.labels ?? [])] }
}

const detailRoutes = ({ usage, clock }: UsageParts): Route[] => [
  defineRoute({
    ...shared,
    path: '/v1/usage/timeseries',
    mayBeOld: true,
    summary: 'Read usage by hour or day',
    query: TimeseriesQuery,
    responses: { 200: { description: 'Every bucket of the range.', schema: TimeseriesAnswer } },
    handle: ({ caller, query }) =>
      describeTimeseries({ usage, clock }, readerOf(caller, 'usage.read'), query),
  }),
  defineRoute({
    ...shared,
    path: '/v1/usage/spending',
    mayBeOld: true,
    summary: 'Read what was spent on what',
    query: SpendingQuery,
    responses: { 200: { description: 'The dearest first, with shares.', schema: SpendingAnswer } },
    handle: async ({ caller, query }) => {
      const reader = readerOf(caller, 'usage.read')
      const { range } = parseRange(query, { usual: '30d', nowMs: clock.nowMs() })
      const group = parseGroup(query, 'model')
      const [filter, limit] = [parseFilter(query), parseGroupLimit(query.limit)]
      const spending = await usage.readSpending({ ...reader, range, ...group, filter, limit })
      return {
        object: 'usage.spending',
        tenant_id: reader.accountId,
        ...rangeToWire(range),
        by: query.by ?? 'model',
        ...spendingToWire(spending, ({ value, name }) => ({ value, name })),
      }
    },
  }),
  defineRoute({
    ...shared,
    path: '/v1/usage/gpu-billing',
    mayBeOld: true,
    summary: 'Read what was spent on GPUs',
    query: RangeQuery,
    responses: { 200: { description: 'The cost by deployment.', schema: GpuBillingAnswer } },
    handle: async ({ caller, query }) => {
      const reader = readerOf(caller, 'usage.read')
      const { range } = parseRange(query, { usual: '30d', nowMs: clock.nowMs() })
      const { spending, burnRateNanoUsdPerHour } = await usage.readGpuBilling({ ...reader, range })
      return {
        object: 'usage.gpu_billing',
        tenant_id: reader.accountId,
        ...rangeToWire(range),
        ...costToWire(spending.totals),
        burn_rate_usd_per_hour: usdFromNanoUsd(burnRateNanoUsdPerHour),
        data: spending.groups.map(({ value, totals, share }) => ({
          model_id: value,
          ...costToWire(totals),
          share,
        })),
      }
    },
  }),
  defineRoute({
    ...shared,
    path: '/v1/usage/records',
    mayBeOld: true,
    summary: 'List requests with their usage',
    query: RecordsQuery,
    responses: {
      200: { description: 'One row a request, newest first.', schema: listSchema('records', RecordAnswer) },
    },
    handle: async ({ caller, query }) => {
      const reader = readerOf(caller, 'usage.read')
      const range = parseRecordsRange(query, clock.nowMs())
      refuseBesideTags(query)
      const [filter, page] = [parseFilter(query), parsePageRequest(query)]
      const outcome = query.outcome ?? null
      const records = await usage.listRecords({ ...reader, range, filter, outcome, page })
      return listAnswer('records', records, recordToWire)
    },
  }),
]

export async function describeTimeseries(
  { usage, clock }: UsageParts,
  reader: Reader,
  query: Static<typeof TimeseriesQuery>,
): Promise<Static<typeof TimeseriesAnswer>> {
  const usual = query.granularity === 'day' ? '30d' : '24h'
  const { range } = parseRange(query, { usual, nowMs: clock.nowMs() })
  const granularity = chooseGranularity(query.granularity, range)
  const group = parseGroup(query, null)
  const filter = parseFilter(query)
  const timeseries = await usage.readTimeseries({ ...reader, range, granularity, ...group, filter })
  return {
    object: 'usage.timeseries',
    tenant_id: reader.accountId,
    ...rangeToWire(range),
    granularity,
    by: query.by ?? null,
    ...timeseriesToWire(timeseries),
  }
}
