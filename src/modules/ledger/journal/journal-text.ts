import type { SpentPart } from '../memory/borrowed-balance.ts'
import type { Charge, UsageRecord } from '../books/usage-record.ts'
import { toDetails } from './charge-details.ts'
import { COST_SUMMED, toCosts, toCostSums } from './cost-arrays.ts'
import { quote, SEPARATOR } from './quote-text.ts'

export interface PaidCharge extends Charge {
  /** The part that each lease pays. */
  readonly parts: readonly SpentPart[]
}

/** The columns of usage that are added up. */
export const SUMMED = [
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cost_nano_usd',
  'promotional_nano_usd',
] as const

/** Also added up, but in separate arrays that are written only if some charge needs them. */
export const RARELY_SUMMED = ['cache_write_tokens', 'units'] as const

/**
 * The arrays of a journal text. Each repeats its columns: once for each series (owners, names, sums, labels), for each charge (ids,
 * figures) or for each payment. Series and charges are numbered from 1. The last ten arrays (uncovered cost, cache writes,
 * their sums, details, owed cost, labels, units, their sums, costs of vendors, their sums) are empty or left out if they have no values, and a process of the previous release reads only
 * the others. There are few arrays, because starting one costs PostgreSQL as much as reading ten numbers; rows would be slower still.
 */
export const JOURNAL_ARRAYS = {
  owners: { type: 'uuid', columns: ['account_id', 'key_id'] },
  names: { type: 'text', columns: ['environment', 'operation', 'model', 'provider', 'outcome'] },
  sums: { type: 'bigint', columns: ['hour_ms', 'requests', ...SUMMED] },
  ids: { type: 'uuid', columns: ['id'] },
  figures: {
    type: 'bigint',
    columns: ['series', ...SUMMED, 'latency_ms', 'first_token_ms', 'created_at_ms'],
  },
  payments: { type: 'bigint', columns: ['number', 'lease_id', 'paid_nano_usd'] },
  uncovered: { type: 'bigint', columns: ['uncovered_nano_usd'] },
  writes: { type: 'bigint', columns: ['cache_write_tokens'] },
  write_sums: { type: 'bigint', columns: ['cache_write_tokens'] },
  details: { type: 'text', columns: ['details'] },
  owed: { type: 'bigint', columns: ['owed_nano_usd'] },
  labels: { type: 'text', columns: ['labels'] },
  units: { type: 'bigint', columns: ['units'] },
  unit_sums: { type: 'bigint', columns: ['units'] },
  vendor_costs: { type: 'bigint', columns: ['vendor_cost_nano_usd'] },
  vendor_cost_sums: { type: 'bigint', columns: COST_SUMMED },
} as const

/** Stands for null, which makes arrays slow in PostgreSQL. No valid time has this value. */
export const NO_FIRST_TOKEN_MS = -2_147_483_648

/** Serialises charges for the journal. On the hot path: every answer goes through here. */
export function toJournalText(charges: readonly PaidCharge[]): string {
  const allSeries = groupBySeries(charges)
  let owners = ''
  let names = ''
  let sums = ''
  let ids = ''
  let figures = ''
  let payments = ''
  let details = ''
  let number = 0
  let seriesNumber = 0
  let isUncovered = false
  let isWritten = false
  let isDetailed = false
  let isOwed = false
  let isLabelled = false
  let isCounted = false
  let isCosted = false
  for (const series of allSeries) {
    const seriesComma = seriesNumber === 0 ? '' : ','
    seriesNumber += 1
    owners += `${seriesComma}${series.record.accountId},${series.record.keyId}`
    names += seriesComma + toNames(series.record)
    sums += seriesComma + toSums(series)
    if (series.record.labels !== undefined) isLabelled = true
    for (const {
      record,
      costNanoUsd,
      promotionalNanoUsd,
      uncoveredNanoUsd = 0n,
      owedNanoUsd = 0n,
      parts,
    } of series.charges) {
      if (uncoveredNanoUsd > 0n) isUncovered = true
      if (owedNanoUsd > 0n) isOwed = true
      if (record.cacheWriteTokens !== undefined && record.cacheWriteTokens > 0) isWritten = true
      if (record.units !== undefined && record.units > 0) isCounted = true
      if (record.vendorCost !== undefined) isCosted = true
      const comma = number === 0 ? '' : ','
      number += 1
      ids += comma + record.id
      details += comma + toDetails(record)
      if (record.details !== undefined || record.priceVersion !== undefined) isDetailed = true
      const cost = String(costNanoUsd)
      figures +=
        `${comma}${seriesNumber},${record.promptTokens},${record.cachedTokens},${record.completionTokens},` +
        `${record.reasoningTokens},${cost},${promotionalNanoUsd},${record.latencyMs},` +
        `${record.firstTokenMs ?? NO_FIRST_TOKEN_MS},${record.createdAtMs}`
      // Mostly one lease of the credit and of each budget pays all of it, and writing a bigint costs more than comparing two.
      for (const { lease, amountNanoUsd } of parts)
        payments += `${payments === '' ? '' : ','}${number},${lease.id},${amountNanoUsd === costNanoUsd ? cost : amountNanoUsd}`
    }
  }
  const S = SEPARATOR
  const text = `{${owners}}${S}{${names}}${S}{${sums}}${S}{${ids}}${S}{${figures}}${S}{${payments}}`
  const isMore = isLabelled || isCounted || isCosted
  if (!isUncovered && !isWritten && !isDetailed && !isMore) return text
  const uncovered = `${text}${S}{${isUncovered ? toUncovered(allSeries) : ''}}`
  if (!isWritten && !isDetailed && !isOwed && !isMore) return uncovered
  const written = isWritten ? `${S}{${toWrites(allSeries)}}${S}{${toWriteSums(allSeries)}}` : `${S}{}${S}{}`
  if (!isDetailed && !isOwed && !isMore) return uncovered + written
  const detailed = `${uncovered}${written}${S}{${isDetailed ? details : ''}}`
  if (!isOwed && !isMore) return detailed
  const owed = `${detailed}${S}{${isOwed ? toOwed(allSeries) : ''}}`
  if (!isMore) return owed
  const labelled = `${owed}${S}{${isLabelled ? toLabels(allSeries) : ''}}`
  if (!isCounted && !isCosted) return labelled
  const counted = isCounted
    ? `${labelled}${S}{${toUnits(allSeries)}}${S}{${toUnitSums(allSeries)}}`
    : `${labelled}${S}{}${S}{}`
  return isCosted
    ? `${counted}${S}{${toCosts(allSeries.map(chargesOf))}}${S}{${toCostSums(allSeries.map(chargesOf))}}`
    : counted
}

/** Separates labels, none of which has it. */
export const LABEL_SEPARATOR = ','

function toLabels(allSeries: readonly Series[]): string {
  return allSeries.map(({ record: { labels = [] } }) => quote(labels.join(LABEL_SEPARATOR))).join()
}

/** The largest value of its column. */
const BIGINT_MAX = 2n ** 63n - 1n

function toUncovered(allSeries: readonly Series[]): string {
  return toAmounts(allSeries, ({ uncoveredNanoUsd = 0n }) => uncoveredNanoUsd)
}

function toOwed(allSeries: readonly Series[]): string {
  return toAmounts(allSeries, ({ owedNanoUsd = 0n }) => owedNanoUsd)
}

function toAmounts(allSeries: readonly Series[], read: (charge: PaidCharge) => bigint): string {
  return allSeries
    .flatMap(({ charges }) => charges.map(read))
    .map((amount) => (amount < BIGINT_MAX ? amount : BIGINT_MAX))
    .join()
}

function toWrites(allSeries: readonly Series[]): string {
  return toCounts(allSeries, ({ cacheWriteTokens = 0 }) => cacheWriteTokens)
}

function toUnits(allSeries: readonly Series[]): string {
  return toCounts(allSeries, ({ units = 0 }) => units)
}

function toCounts(allSeries: readonly Series[], read: (record: UsageRecord) => number): string {
  return allSeries.flatMap(({ charges }) => charges.map(({ record }) => read(record))).join()
}

function toWriteSums(allSeries: readonly Series[]): string {
  return toSumsOf(allSeries, ({ cacheWriteTokens = 0 }) => cacheWriteTokens)
}

function toUnitSums(allSeries: readonly Series[]): string {
  return toSumsOf(allSeries, ({ units = 0 }) => units)
}

function toSumsOf(allSeries: readonly Series[], read: (record: UsageRecord) => number): string {
  const sumOf = ({ charges }: Series) => charges.reduce((sum, { record }) => sum + BigInt(read(record)), 0n)
  return allSeries.map(sumOf).join()
}

/** Charges of one hour with the same account, key, names and labels. */
interface Series {
  readonly record: UsageRecord
  readonly charges: PaidCharge[]
}

function chargesOf({ charges }: Series): readonly PaidCharge[] {
  return charges
}

/** Only the last few series are compared, so that the cost per charge stays constant. */
const SERIES_COMPARED_MAX = 8

function groupBySeries(charges: readonly PaidCharge[]): Series[] {
  const allSeries: Series[] = []
  for (const charge of charges) {
    let index = allSeries.length - 1
    const last = Math.max(0, allSeries.length - SERIES_COMPARED_MAX)
    while (index >= last && !isOfSeries(allSeries[index], charge)) index -= 1
    const series = index >= last ? allSeries[index] : undefined
    if (series === undefined) allSeries.push({ record: charge.record, charges: [charge] })
    else series.charges.push(charge)
  }
  return allSeries
}

// Mostly identical string objects, so the comparison is cheap.
function isOfSeries(series: Series | undefined, { record }: PaidCharge): boolean {
  const known = series?.record
  return (
    known !== undefined &&
    known.accountId === record.accountId &&
    known.keyId === record.keyId &&
    known.environment === record.environment &&
    known.operation === record.operation &&
    known.model === record.model &&
    known.provider === record.provider &&
    known.outcome === record.outcome &&
    (known.labels === record.labels || hasLabels(known, record)) &&
    hourOf(known) === hourOf(record)
  )
}

/** Tags are in the order of their names, so that equal ones are equal lists. */
function hasLabels({ labels: some }: UsageRecord, { labels: others }: UsageRecord): boolean {
  return (
    some !== undefined &&
    some.length === others?.length &&
    some.every((label, index) => label === others[index])
  )
}

export const HOUR_MS = 3_600_000

function hourOf({ createdAtMs }: UsageRecord): number {
  return createdAtMs - (createdAtMs % HOUR_MS)
}

function toNames({ environment, operation, model, provider, outcome }: UsageRecord): string {
  return PLAIN.test(`${environment}${operation}${model}${provider}${outcome}`)
    ? `"${environment}","${operation}","${model}","${provider}","${outcome}"`
    : [environment, operation, model, provider, outcome].map(quote).join()
}

/** Names that need no escaping: nearly all of them. */
const PLAIN = /^[\w./:@-]*$/

function toSums({ record, charges }: Series): string {
  const [only] = charges
  if (only !== undefined && charges.length === 1) {
    const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = record
    return (
      `${hourOf(record)},1,${promptTokens},${cachedTokens},${completionTokens},` +
      `${reasoningTokens},${only.costNanoUsd},${only.promotionalNanoUsd}`
    )
  }
  let promptTokens = 0n
  let cachedTokens = 0n
  let completionTokens = 0n
  let reasoningTokens = 0n
  let costNanoUsd = 0n
  let promotionalNanoUsd = 0n
  for (const charge of charges) {
    promptTokens += BigInt(charge.record.promptTokens)
    cachedTokens += BigInt(charge.record.cachedTokens)
    completionTokens += BigInt(charge.record.completionTokens)
    reasoningTokens += BigInt(charge.record.reasoningTokens)
    costNanoUsd += charge.costNanoUsd
    promotionalNanoUsd += charge.promotionalNanoUsd
  }
  return (
    `${hourOf(record)},${charges.length},${promptTokens},${cachedTokens},${completionTokens},` +
    `${reasoningTokens},${costNanoUsd},${promotionalNanoUsd}`
  )
}
