import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { OpenPage, Page } from '../../kernel/page.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { readPrimaryOnly, type ReplicaReads } from '../../storage/replica/replica-reads.ts'
import type { Reader } from '../keys/keys.ts'
import { KnownComparisons } from './anomalies/known-comparisons.ts'
import { readComparison, type WeekdayComparison } from './anomalies/read-comparison.ts'
import type { BucketsQuery } from './buckets/buckets-query.ts'
import { readBuckets, type Bucket } from './buckets/read-buckets.ts'
import { findSpan, type SpanQuery, type UsageSpan } from './find-span.ts'
import { LabelMeter, type LabelledError, type LabelledRequest } from './labels/label-meter.ts'
import { LatencyMeter, type MeasuredRequest } from './latency-meter.ts'
import {
  listKeyUse,
  readModelUse,
  type KeyUse,
  type KeyUseQuery,
  type ModelUse,
  type ModelUseQuery,
} from './read-model-use.ts'
import { listRecords, type RecordsQuery, type UsageRecord } from './list-records.ts'
import { readBudget, type Budget, type BudgetReader, type CreditReader } from './read-budget.ts'
import {
  exportGatewayUsage,
  readGatewayTimeseries,
  readGatewayUsage,
  type DescribedGatewayUsage,
  type GatewayTimeseriesQuery,
} from './gateway/read-gateway-usage.ts'
import type { GroupsQuery } from './gateway/read-groups.ts'
import { readSpending, type Spending, type SpendingQuery } from './read-spending.ts'
import { readLatency, type Latency } from './read-latency.ts'
import { readTimeseries, type Timeseries, type TimeseriesQuery } from './read-timeseries.ts'
import { readTotals, type TotalsQuery } from './read-totals.ts'
import { readSpent } from './read-spent.ts'
import { keepUsageSummed } from './sums/keep-usage-summed.ts'
import { lastHourAt, type UsageRange } from './usage-range.ts'
import type { UsageTotals } from './usage-totals.ts'
import { readVendorHealth, type VendorHealth, type VendorHealthQuery } from './vendors/read-vendor-health.ts'
import { VendorMeter, type EndedAttempt, type ProviderAnswer } from './vendors/vendor-meter.ts'

export type { AnomalyCause } from './anomalies/find-anomaly.ts'
export type { WeekdayComparison } from './anomalies/read-comparison.ts'
export { readToldAnomaly, tellAnomalies, type ToldAnomaly } from './anomalies/tell-anomalies.ts'
export type { Outlook, OutlookLimit } from './forecast/read-outlook.ts'
export { BUCKET_WIDTHS_MS } from './buckets/buckets-query.ts'
export type { BucketFilter, BucketsQuery, BucketWidth, Grouping } from './buckets/buckets-query.ts'
export type { Bucket, BucketResult } from './buckets/read-buckets.ts'
export { OUTCOMES, type UsageRecord } from './list-records.ts'
export { LATENCY_ERROR } from './latency-buckets.ts'
export type { LatencyBucket, LatencyFigures, Percentiles } from './read-latency.ts'
export {
  GATEWAY_DIMENSIONS,
  GROUP_ORDERS,
  type GatewayDimension,
  type GatewayQuery,
} from './gateway/gateway-query.ts'
export type { GroupName } from './gateway/name-groups.ts'
export type { DescribedGatewayUsage, NamedGroup } from './gateway/read-gateway-usage.ts'
export type { GatewayUsage, GroupsQuery, UsageGroup } from './gateway/read-groups.ts'
export type { KeyUse, KeyUseCursor, ModelUse } from './read-model-use.ts'
export type { Budget, CreditReader } from './read-budget.ts'
export { verifyPrices, type VerifiedPrices } from './verify-prices.ts'
export type { Spending } from './read-spending.ts'
export { BUCKETS_MAX, GRANULARITIES, SERIES_MAX } from './read-timeseries.ts'
export type { Granularity, Timeseries, UsageBucket } from './read-timeseries.ts'
export { isKeyOfProject, type UsageFilter } from './select-usage.ts'
export { DAY_MS, floorDay, floorHour, HOUR_MS, type UsageRange } from './usage-range.ts'
export { NO_USAGE, type UsageTotals } from './usage-totals.ts'
export { wholeBuckets, type HealthFigures, type VendorHealth } from './vendors/read-vendor-health.ts'

export interface UsageComparison {
  readonly totals: UsageTotals
  readonly previous: UsageTotals
}

/** Reads usage and costs, as the ledger stored them. */
export interface Usage {
  /** Returns what the account may spend, or what the key may spend if the reader sees only a key. */
  readBudget(reader: BudgetReader): Promise<Budget>
  /** Returns the totals of the range and of another one for comparison. */
  compareTotals(query: TotalsQuery, previous: UsageRange): Promise<UsageComparison>
  /** Compares what the day cost so far with the same hours of the same weekdays before. Read once a minute for each reader. */
  compareWeekday(reader: Reader): Promise<WeekdayComparison>
  /** Returns the spending of the last sixty minutes. */
  readBurnRate(query: Omit<TotalsQuery, 'range'>): Promise<NanoUsd>
  readTimeseries(query: TimeseriesQuery): Promise<Timeseries>
  /** Returns buckets of usage in the form of OpenAI's Administration API. */
  readBuckets(query: BucketsQuery): Promise<readonly Bucket[]>
  readSpending(query: SpendingQuery): Promise<Spending>
  /** The usage of all accounts. */
  readonly ofGateway: GatewayUsageReader
  readGpuBilling(query: Reader & { range: UsageRange }): Promise<GpuBilling>
  listRecords(query: RecordsQuery): Promise<Page<UsageRecord>>
  /** Returns how much models were used by the hour, without those that were not used. */
  readModelUse(query: ModelUseQuery): Promise<ReadonlyMap<string, ModelUse>>
  /** Returns the keys that used models, those with the most requests first. */
  listKeyUse(query: KeyUseQuery): Promise<OpenPage<KeyUse>>
  /** Returns percentiles of how long completed requests took. */
  readLatency(query: TimeseriesQuery): Promise<Latency>
  /** Counts how long a completed request took. */
  noteLatency(request: MeasuredRequest & Pick<LabelledRequest, 'labels'>): void
  /** Counts a request that failed by its tags. */
  noteError(request: LabelledError): void
  /** How providers did over time, over all accounts. */
  readonly vendors: VendorHealthKeeper
  /** Returns the hours with usage in a range. Null if there are none. */
  findSpan(query: SpanQuery): Promise<UsageSpan | null>
  /** Makes charges of requests that have ended visible to readers. */
  postCharges(): Promise<void>
  /** Returns the total spending of each key. Keys without spending are omitted. */
  spentByKeys(keyIds: readonly string[]): Promise<ReadonlyMap<string, NanoUsd>>
  /** Call it after all requests have ended. */
  close(): Promise<void>
}

interface VendorHealthKeeper {
  noteAttempt(attempt: EndedAttempt): void
  noteAnswer(answer: ProviderAnswer): void
  /** An attempt that was answered failed while its answer was sent. */
  noteBroken(stream: Pick<ProviderAnswer, 'provider' | 'model'>): void
  read(query: VendorHealthQuery): Promise<VendorHealth[]>
}

/** Reads the usage of all accounts, in groups. */
interface GatewayUsageReader {
  read(query: GroupsQuery): Promise<DescribedGatewayUsage>
  readTimeseries(query: GatewayTimeseriesQuery): ReturnType<typeof readGatewayTimeseries>
  /** Returns many groups, some at a time. */
  export(query: GroupsQuery): ReturnType<typeof exportGatewayUsage>
}

export function createUsage({
  database,
  reads = readPrimaryOnly(database),
  clock,
  ledger,
  logger,
  errorRetentionDays = 30,
}: {
  database: Database
  /** Where usage is read from that may be a little old. What decides over money never is. */
  reads?: Pick<ReplicaReads, 'reader' | 'isStale'>
  clock: Clock
  ledger: CreditReader
  logger: Logger
  /** How long failed requests are counted by tag. */
  errorRetentionDays?: number
}): Usage {
  const meter = new LatencyMeter({ database, logger })
  const labelMeter = new LabelMeter({ database, logger, errorRetentionDays })
  const vendors = new VendorMeter({ database, clock, logger })
  const stopSumming = keepUsageSummed({ database, clock, logger })
  const { reader: mayBeOld } = reads
  // What a replica knows was posted before it was copied.
  const postCharges = async (): Promise<void> => {
    if (!reads.isStale) await ledger.postCharges()
  }
  const afterPosting = async <Result>(read: () => Promise<Result>): Promise<Result> => {
    await postCharges()
    return read()
  }
  const comparisons = new KnownComparisons(clock, (reader) =>
    afterPosting(() => readComparison(database, reader, clock.nowMs())),
  )
  return {
    readBudget: async (reader) => {
      await ledger.postCharges()
      return readBudget({ database, ledger }, reader, clock.nowMs())
    },
    compareTotals: (query, previousRange) =>
      afterPosting(async () => {
        const [totals, previous] = await Promise.all([
          readTotals(mayBeOld, query),
          readTotals(mayBeOld, { ...query, range: previousRange }),
        ])
        return { totals, previous }
      }),
    compareWeekday: (reader) => comparisons.compare(reader),
    readBurnRate: (query) =>
      afterPosting(async () => {
        const range = lastHourAt(clock.nowMs())
        return (await readTotals(mayBeOld, { ...query, range })).costNanoUsd
      }),
    readTimeseries: (query) => afterPosting(() => readTimeseries(mayBeOld, query)),
    readBuckets: (query) => afterPosting(() => readBuckets(mayBeOld, query)),
    readSpending: (query) => afterPosting(() => readSpending(mayBeOld, query)),
    ofGateway: {
      read: async (query) => {
        await Promise.all([meter.flush(), labelMeter.flush()])
        return afterPosting(() => readGatewayUsage(mayBeOld, query))
      },
      readTimeseries: (query) => afterPosting(() => readGatewayTimeseries(mayBeOld, query)),
      export: (query) => exportGatewayUsage(mayBeOld, query),
    },
    readGpuBilling: (query) => afterPosting(() => readGpuBilling(mayBeOld, query, lastHourAt(clock.nowMs()))),
    listRecords: (query) => afterPosting(() => listRecords(mayBeOld, query)),
    readModelUse: (query) => afterPosting(() => readModelUse(database, query)),
    listKeyUse: (query) => afterPosting(() => listKeyUse(database, query)),
    readLatency: async (query) => {
      await meter.flush()
      return afterPosting(() => readLatency(mayBeOld, query))
    },
    noteLatency: (request) => {
      meter.note(request)
      labelMeter.noteLatency(request)
    },
    noteError: (request) => labelMeter.noteError(request),
    vendors: {
      noteAttempt: (attempt) => vendors.noteAttempt(attempt),
      noteAnswer: (answer) => vendors.noteAnswer(answer),
      noteBroken: (stream) => vendors.noteBroken(stream),
      read: async (query) => {
        await vendors.flush()
        return readVendorHealth(mayBeOld, query)
      },
    },
    close: async () => {
      await Promise.all([stopSumming(), meter.close(), labelMeter.close(), vendors.close()])
    },
    findSpan: (query) => afterPosting(() => findSpan(mayBeOld, query)),
    postCharges,
    spentByKeys: async (keyIds) => {
      await ledger.postCharges()
      const scopes = keyIds.map((keyId) => KEY_SCOPE + keyId)
      const spent = await readSpent(database, scopes)
      return new Map([...spent].map(([scope, amount]) => [scope.slice(KEY_SCOPE.length), amount]))
    },
  }
}

const KEY_SCOPE = 'key:'

interface GpuBilling {
  /** Grouped by the model that each deployment serves. */
  readonly spending: Spending
  readonly burnRateNanoUsdPerHour: NanoUsd
}

const DEPLOYMENTS_MAX = 100

/** Returns the GPU costs of an account: usage with the operation `gpu`, which is time and not requests. */
async function readGpuBilling(
  queryable: Queryable,
  query: Reader & { readonly range: UsageRange },
  lastHour: UsageRange,
): Promise<GpuBilling> {
  const filter = { operation: 'gpu' }
  const [spending, recent] = await Promise.all([
    readSpending(queryable, { ...query, by: 'model', filter, limit: DEPLOYMENTS_MAX }),
    readTotals(queryable, { ...query, range: lastHour, filter }),
  ])
  return { spending, burnRateNanoUsdPerHour: recent.costNanoUsd }
}
