import { createHash } from 'node:crypto'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'
import { readerOfAccount, type Reader } from '../keys/keys.ts'
import type { LimitingBudget } from '../ledger/ledger.ts'
import { FORECAST_DAYS, forecastMonth, type DaySpend, type MonthForecast } from './forecast/forecast-month.ts'
import { readOutlook, type Outlook, type RatedBudget } from './forecast/read-outlook.ts'
import { readSubjectRates } from './forecast/read-subject-rates.ts'
import { readTotals } from './read-totals.ts'
import { readSpent } from './read-spent.ts'
import { DAY_MS, floorDay, lastHourAt, type UsageRange } from './usage-range.ts'

/** The part of the ledger that usage needs: it has the balances and writes the usage. */
export interface CreditReader {
  readBalance(accountId: string): Promise<{
    readonly balanceNanoUsd: NanoUsd
    readonly heldNanoUsd: NanoUsd
  }>
  readBudgets(accountId: string): Promise<readonly SpendBudget[]>
  readLimitingBudgets(accountId: string, subjects: readonly string[]): Promise<readonly LimitingBudget[]>
  /** Resolves when all earlier charges can be read. */
  postCharges(): Promise<void>
}

interface SpendBudget {
  readonly period: 'day' | 'month'
  readonly limitNanoUsd: NanoUsd
  readonly spentNanoUsd: NanoUsd
}

/**
 * Spending and limits in the current UTC month: of an account, or of one key or project, which know no amounts of their account. Null
 * means no limit, or an amount of the account.
 */
export interface Budget {
  /** The monthly budget. Without one, the month's spending plus the balance. For a key: all that it may ever spend. */
  readonly limitNanoUsd: NanoUsd | null
  readonly spentNanoUsd: NanoUsd
  /** What can still be spent: the smallest of the balance and the rests of all budgets of the account. For a key: of all that limit it. */
  readonly remainingNanoUsd: NanoUsd | null
  /** The part that is held for running work. It is included in what remains. */
  readonly heldNanoUsd: NanoUsd | null
  readonly balanceNanoUsd: NanoUsd | null
  /** The spending of the last sixty minutes. */
  readonly burnRateNanoUsdPerHour: NanoUsd
  readonly month: UsageRange
  readonly readAtMs: number
  readonly budgets: readonly SpendBudget[]
  /** The budgets of the organization that limit whoever reads. */
  readonly limiting: readonly LimitingBudget[]
  readonly outlook: Outlook
  /** Null before there are some days to tell it from. */
  readonly forecast: MonthForecast | null
  /** A hash that changes with every amount except the burn rate and what follows from it, which change with the clock. */
  readonly version: number
}

interface BudgetParts {
  readonly database: Queryable
  readonly ledger: CreditReader
}

/** Who reads a budget, and the subjects whose budgets limit them. */
export interface BudgetReader extends Reader {
  readonly subjects: readonly string[]
}

export async function readBudget(parts: BudgetParts, reader: BudgetReader, nowMs: number): Promise<Budget> {
  const { accountId, projectId, ownKeyId } = reader
  const limiting = await readRatedBudgets(parts, reader, nowMs)
  return projectId === null && ownKeyId === null
    ? readAccountBudget(parts, { accountId, limiting, nowMs })
    : readPartBudget(parts.database, reader, { limiting, nowMs })
}

async function readRatedBudgets(
  { database, ledger }: BudgetParts,
  { accountId, subjects }: BudgetReader,
  nowMs: number,
): Promise<RatedBudget[]> {
  const limiting = await ledger.readLimitingBudgets(accountId, subjects)
  const limited = [...new Set(limiting.map(({ subject }) => subject))]
  const rates = await readSubjectRates(database, { accountId, subjects: limited, nowMs })
  return limiting.map((budget) => ({ ...budget, rateNanoUsdPerHour: rates.get(budget.subject) ?? 0n }))
}

interface Limited {
  readonly limiting: readonly RatedBudget[]
  readonly nowMs: number
}

async function readAccountBudget(
  { database, ledger }: BudgetParts,
  { accountId, limiting, nowMs }: Limited & { readonly accountId: string },
): Promise<Budget> {
  const month = monthAt(nowMs)
  const scope = `month:${accountId}:${new Date(month.fromMs).toISOString().slice(0, 7)}`
  const [{ balanceNanoUsd, heldNanoUsd }, budgets, spentTotals, lastHour, days] = await Promise.all([
    ledger.readBalance(accountId),
    ledger.readBudgets(accountId),
    readSpent(database, [scope]),
    readTotals(database, { ...readerOfAccount(accountId), range: lastHourAt(nowMs) }),
    readDays(database, { accountId, keyId: null, nowMs }),
  ])
  const spentNanoUsd = spentTotals.get(scope) ?? 0n
  const spendableNanoUsd = largest(0n, balanceNanoUsd)
  const monthly = budgets.find(({ period }) => period === 'month')
  const amounts = {
    limitNanoUsd: monthly?.limitNanoUsd ?? spentNanoUsd + spendableNanoUsd,
    spentNanoUsd,
    remainingNanoUsd: leastRest(spendableNanoUsd, [
      ...budgets,
      ...limiting.filter(({ subject }) => subject === 'account'),
    ]),
    heldNanoUsd,
    balanceNanoUsd,
  }
  return {
    ...amounts,
    burnRateNanoUsdPerHour: lastHour.costNanoUsd,
    month,
    readAtMs: nowMs,
    budgets,
    limiting,
    outlook: readOutlook({
      rateNanoUsdPerHour: lastHour.costNanoUsd,
      balanceNanoUsd,
      keyRestNanoUsd: null,
      budgets,
      limiting,
      monthEndsMs: month.toMs,
      nowMs,
    }),
    forecast: forecastMonth({ days, spentNanoUsd, monthEndsMs: month.toMs, nowMs }),
    version: hashAmounts([
      scope,
      ...Object.values(amounts),
      ...budgets.flatMap(({ period, limitNanoUsd, spentNanoUsd: spent }) => [period, limitNanoUsd, spent]),
      ...limiting.flatMap(amountsOf),
    ]),
  }
}

/** Of one key, or of a project: the credit belongs to the account, so neither knows what that has. */
async function readPartBudget(
  database: Queryable,
  reader: Reader,
  { limiting, nowMs }: Limited,
): Promise<Budget> {
  const { accountId, projectId, ownKeyId } = reader
  const month = monthAt(nowMs)
  const scope = ownKeyId === null ? `project:${projectId}` : `key:${ownKeyId}`
  const [key, spentTotals, thisMonth, lastHour, days] = await Promise.all([
    ownKeyId === null ? UNLIMITED : readKeyLimits(database, ownKeyId),
    // Only keys have a limit of all that they ever spend.
    readSpent(database, ownKeyId === null ? [] : [scope]),
    readTotals(database, { ...reader, range: month }),
    readTotals(database, { ...reader, range: lastHourAt(nowMs) }),
    // Days are not summed by project, so that a project has no forecast.
    ownKeyId === null ? [] : readDays(database, { accountId, keyId: ownKeyId, nowMs }),
  ])
  const { limitNanoUsd, parent } = key
  const spentEverNanoUsd = spentTotals.get(scope) ?? 0n
  const keyRestNanoUsd = limitNanoUsd === null ? null : largest(0n, limitNanoUsd - spentEverNanoUsd)
  const parentKey = parent && (await readParentRest(database, { accountId, parent, nowMs }))
  return {
    limitNanoUsd,
    spentNanoUsd: thisMonth.costNanoUsd,
    remainingNanoUsd: leastRest(
      leastRest(keyRestNanoUsd, parentKey ? [{ limitNanoUsd: parentKey.restNanoUsd, spentNanoUsd: 0n }] : []),
      limiting,
    ),
    heldNanoUsd: null,
    balanceNanoUsd: null,
    burnRateNanoUsdPerHour: lastHour.costNanoUsd,
    month,
    readAtMs: nowMs,
    budgets: [],
    limiting,
    outlook: readOutlook({
      rateNanoUsdPerHour: lastHour.costNanoUsd,
      balanceNanoUsd: null,
      keyRestNanoUsd,
      parentKey,
      budgets: [],
      limiting,
      monthEndsMs: month.toMs,
      nowMs,
    }),
    forecast: forecastMonth({ days, spentNanoUsd: thisMonth.costNanoUsd, monthEndsMs: month.toMs, nowMs }),
    version: hashAmounts([
      scope,
      limitNanoUsd ?? '',
      spentEverNanoUsd,
      parentKey?.restNanoUsd ?? '',
      thisMonth.costNanoUsd,
      ...limiting.flatMap(amountsOf),
    ]),
  }
}

interface ParentKey {
  readonly id: string
  readonly limitNanoUsd: NanoUsd
}

const UNLIMITED = { limitNanoUsd: null, parent: null } as const

/** Parent: the key that it comes from, if that has a limit, which holds for all of its keys together. */
async function readKeyLimits(
  database: Queryable,
  keyId: string,
): Promise<{ limitNanoUsd: NanoUsd | null; parent: ParentKey | null }> {
  const [row] = await database.query<{
    own: bigint | null
    parent_id: string | null
    of_parent: bigint | null
  }>(
    `SELECT key.limit_nano_usd AS own, parent.id AS parent_id, parent.limit_nano_usd AS of_parent
     FROM api_keys key LEFT JOIN api_keys parent ON parent.id = coalesce(key.parent_id, key.origin_key_id) WHERE key.id = $1`,
    [keyId],
  )
  const { own = null, parent_id: id = null, of_parent: ofParent = null } = row ?? {}
  const parent = id === null || ofParent === null ? null : { id, limitNanoUsd: ofParent }
  return { limitNanoUsd: own, parent }
}

async function readParentRest(
  database: Queryable,
  { accountId, parent, nowMs }: { accountId: string; parent: ParentKey; nowMs: number },
): Promise<{ restNanoUsd: NanoUsd; rateNanoUsdPerHour: NanoUsd }> {
  const subject = `key:${parent.id}`
  const [spent, rates] = await Promise.all([
    readSpent(database, [subject]),
    readSubjectRates(database, { accountId, subjects: [subject], nowMs }),
  ])
  return {
    restNanoUsd: largest(0n, parent.limitNanoUsd - (spent.get(subject) ?? 0n)),
    rateNanoUsdPerHour: rates.get(subject) ?? 0n,
  }
}

/** What the whole days before today cost, those without spending left out. */
async function readDays(
  database: Queryable,
  { accountId, keyId, nowMs }: { accountId: string; keyId: string | null; nowMs: number },
): Promise<DaySpend[]> {
  const toMs = floorDay(nowMs)
  const rows = await database.query<{ day_ms: number; spent: bigint }>(
    `SELECT extract(epoch FROM day)::float8 * 1000 AS day_ms, sum(spent_nano_usd)::bigint AS spent FROM spend_by_day
     WHERE account_id = $1 AND day >= $2::date AND day < $3::date AND ($4::uuid IS NULL OR key_id = $4) GROUP BY day`,
    [accountId, dayText(toMs - FORECAST_DAYS * DAY_MS), dayText(toMs), keyId],
  )
  return rows.map(({ day_ms: dayMs, spent }) => ({ dayMs, spentNanoUsd: spent }))
}

function dayText(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 'YYYY-MM-DD'.length)
}

function monthAt(nowMs: number): UsageRange {
  const now = new Date(nowMs)
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  return { fromMs: Date.UTC(year, month), toMs: Date.UTC(year, month + 1) }
}

interface Limit {
  readonly limitNanoUsd: NanoUsd
  readonly spentNanoUsd: NanoUsd
}

/** Null: nothing limits. */
function leastRest<Most extends NanoUsd | null>(most: Most, limits: readonly Limit[]): Most | NanoUsd {
  return limits.reduce<Most | NanoUsd>((least, { limitNanoUsd, spentNanoUsd }) => {
    const rest = largest(0n, limitNanoUsd - spentNanoUsd)
    return least === null ? rest : smallest(least, rest)
  }, most)
}

function amountsOf({ id, limitNanoUsd, spentNanoUsd }: LimitingBudget): (string | bigint)[] {
  return [id, limitNanoUsd, spentNanoUsd]
}

function smallest(a: NanoUsd, b: NanoUsd): NanoUsd {
  return a < b ? a : b
}

function largest(a: NanoUsd, b: NanoUsd): NanoUsd {
  return a > b ? a : b
}

// 48 bits fit exactly into a number, and collisions are very unlikely.
function hashAmounts(amounts: readonly (string | bigint)[]): number {
  return createHash('sha256').update(amounts.join(' ')).digest().readUIntBE(0, 6)
}
