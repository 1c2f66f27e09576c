import type { Queryable } from '../../storage/database.ts'
import {
  adjustPrice,
  concernsUnit,
  fromStoredPrice,
  fromStoredTerms,
  priceCounted,
  type ModelPrice,
  type PriceTerms,
} from '../catalog/catalog.ts'
import {
  BATCH_FACTOR,
  COST_BATCH_FACTOR,
  COST_VERSION,
  COUNTED,
  PRICE_ADJUSTMENT,
  PRICE_VERSION,
} from '../ledger/ledger.ts'
import { ID_AGE_MS_MAX } from './list-records.ts'
import { firstIdAt } from '../../kernel/identifiers.ts'
import type { UsageRange } from './usage-range.ts'
import { CostLists, withBatchFactor } from './verify-costs.ts'

/** A charge that its price list, its adjustment and its counts do not explain. */
interface UnexplainedCharge {
  readonly id: string
  readonly accountId: string
  readonly problem: string
}

export interface VerifiedPrices {
  /** Records that were recomputed. */
  readonly checked: number
  readonly differing: number
  /** Records that name no price list: of releases before it was recorded, and of deployments, whose price is that of their run. */
  readonly withoutList: number
  /** What vendors charge for the requests. Those of unknown cost are in neither. */
  readonly costs: { readonly checked: number; readonly differing: number }
}

interface VerifyOptions {
  readonly range: UsageRange
  readonly onDifference: (charge: UnexplainedCharge) => void
}

/** Records that are read at a time, which bounds the memory. */
const BATCH = 2_000
const LISTS_KEPT_MAX = 10_000

/**
 * Computes every charge of the range again, from what was counted and the price list and adjustment that its record names, to the nano-dollar. Reads each
 * account by itself, in pages, so that no statement takes long.
 */
export async function verifyPrices(
  queryable: Queryable,
  { range, onDifference }: VerifyOptions,
): Promise<VerifiedPrices> {
  const lists = new PriceLists(queryable)
  const adjustments = new Adjustments(queryable)
  const costLists = new CostLists(queryable)
  const sums = { checked: 0, differing: 0, withoutList: 0 }
  const costs = { checked: 0, differing: 0 }
  for await (const rows of readCharges(queryable, range)) {
    await lists.load(rows)
    await adjustments.load(rows)
    await costLists.load(rows)
    for (const row of rows) {
      if (row.vendor_cost_nano_usd !== null) {
        costs.checked += 1
        const wrong = costLists.findProblem(row)
        if (wrong !== null) {
          costs.differing += 1
          onDifference({ id: row.id, accountId: row.account_id, problem: wrong })
        }
      }
      if (row.price_version === null) {
        if (priceOf(row) > 0n) sums.withoutList += 1
        continue
      }
      sums.checked += 1
      const problem = findProblem(row, lists.get(row.price_version), adjustments)
      if (problem === null) continue
      sums.differing += 1
      onDifference({ id: row.id, accountId: row.account_id, problem })
    }
  }
  return { ...sums, costs }
}

interface ChargeRow {
  readonly id: string
  readonly account_id: string
  readonly model: string
  readonly prompt_tokens: bigint
  readonly cached_tokens: bigint
  readonly cache_write_tokens: bigint
  readonly completion_tokens: bigint
  readonly cost_nano_usd: bigint
  readonly uncovered_nano_usd: bigint
  readonly price_version: string | null
  readonly adjustment: string | null
  readonly batch_factor: string | null
  readonly counted: string | null
  readonly vendor_cost_nano_usd: bigint | null
  readonly cost_version: string | null
  readonly cost_batch_factor: string | null
}

async function* readCharges(queryable: Queryable, { fromMs, toMs }: UsageRange): AsyncGenerator<ChargeRow[]> {
  const accounts = await queryable.query<{ account_id: string }>(
    'SELECT account_id FROM credit_accounts ORDER BY account_id',
  )
  const endId = firstIdAt(toMs)
  for (const { account_id: accountId } of accounts) {
    let afterId = firstIdAt(Math.max(0, fromMs - ID_AGE_MS_MAX))
    for (;;) {
      const rows = await queryable.query<ChargeRow>(READ, [
        accountId,
        afterId,
        endId,
        new Date(fromMs),
        new Date(toMs),
      ])
      if (rows.length > 0) yield rows
      if (rows.length < BATCH) break
      afterId = rows.at(-1)?.id ?? endId
    }
  }
}

const READ = `
  SELECT id, account_id, model, prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, cost_nano_usd,
    uncovered_nano_usd, ${PRICE_VERSION} AS price_version, ${PRICE_ADJUSTMENT} AS adjustment,
    ${BATCH_FACTOR} AS batch_factor, ${COUNTED} AS counted, vendor_cost_nano_usd, ${COST_VERSION} AS cost_version,
    ${COST_BATCH_FACTOR} AS cost_batch_factor
  FROM usage_records
  WHERE account_id = $1 AND id > $2 AND id < $3 AND created_at >= $4 AND created_at < $5
  ORDER BY id LIMIT ${BATCH}`

/** What the request cost, also if its account could not pay all of it. */
function priceOf({ cost_nano_usd: cost, uncovered_nano_usd: uncovered }: ChargeRow): bigint {
  return cost + uncovered
}

function findProblem(row: ChargeRow, list: PriceList | undefined, adjustments: Adjustments): string | null {
  const version = row.price_version ?? ''
  if (list === undefined) return `names the price list ${version}, which is not stored`
  if (list.model !== null && list.model !== row.model)
    return `is of ${row.model} and names the price list ${version} of ${list.model}`
  const adjusted = adjustments.apply(row, list.price)
  if (typeof adjusted === 'string') return adjusted
  const price = withBatchFactor(adjusted, row.batch_factor)
  if (price === null) return `names the batch factor '${row.batch_factor}', which this release does not know`
  const expected = priceCounted(price, row.counted ?? '', {
    promptTokens: Number(row.prompt_tokens),
    cachedTokens: Number(row.cached_tokens),
    cacheWriteTokens: Number(row.cache_write_tokens),
    completionTokens: Number(row.completion_tokens),
  })
  if (expected === null) return `counted '${row.counted}', which the price list ${version} has no price for`
  const by = row.adjustment === null ? '' : ` with the adjustment ${row.adjustment}`
  return expected === priceOf(row)
    ? null
    : `cost ${priceOf(row)} nano-dollars, and ${expected} by the price list ${version}${by}`
}

interface PriceList {
  /** Null for a list of a file, which several models may have. */
  readonly model: string | null
  readonly price: ModelPrice
}

/** The price lists that records name. */
class PriceLists {
  readonly #queryable: Queryable
  readonly #known = new Map<string, PriceList>()

  constructor(queryable: Queryable) {
    this.#queryable = queryable
  }

  get(version: string): PriceList | undefined {
    return this.#known.get(version)
  }

  async load(rows: readonly ChargeRow[]): Promise<void> {
    if (this.#known.size > LISTS_KEPT_MAX) this.#known.clear()
    const named = new Set(rows.flatMap(({ price_version: version }) => version ?? []))
    const missing = [...named].filter((version) => !this.#known.has(version))
    if (missing.length === 0) return
    const lists = await this.#queryable.query<{ version: string; model: string | null; rates: unknown }>(
      `SELECT version, NULL AS model, rates FROM file_prices WHERE version = ANY($1::text[])
       UNION ALL SELECT version::text, model, rates FROM model_prices WHERE version = ANY($2::bigint[])`,
      [missing, missing.filter((version) => /^\d{1,18}$/.test(version))],
    )
    for (const { version, model, rates } of lists)
      this.#known.set(version, { model, price: fromStoredPrice(rates) })
  }
}

interface AdjustmentRow {
  readonly version: string
  readonly account_id: string | null
  readonly model: string | null
  readonly terms: unknown
}

interface KnownAdjustment extends Omit<AdjustmentRow, 'terms'> {
  readonly terms: PriceTerms
}

/** The markups and discounts that records name. */
class Adjustments {
  readonly #queryable: Queryable
  readonly #known = new Map<string, KnownAdjustment>()

  constructor(queryable: Queryable) {
    this.#queryable = queryable
  }

  /** Returns the price that the request was charged by, or what is wrong. */
  apply(
    { adjustment: version, account_id: accountId, model }: ChargeRow,
    price: ModelPrice,
  ): ModelPrice | string {
    if (version === null) return price
    const known = this.#known.get(version)
    if (known === undefined) return `names the price adjustment ${version}, which is not stored`
    if ((known.account_id ?? accountId) !== accountId || (known.model ?? model) !== model)
      return `names the price adjustment ${version}, which is not for it`
    if (!concernsUnit(known.terms, price.unit))
      return `names the price adjustment ${version}, which is for another unit`
    return adjustPrice(price, known.terms)
  }

  async load(rows: readonly ChargeRow[]): Promise<void> {
    if (this.#known.size > LISTS_KEPT_MAX) this.#known.clear()
    const named = new Set(rows.flatMap(({ adjustment }) => adjustment ?? []))
    const missing = [...named].filter((version) => !this.#known.has(version) && /^\d{1,18}$/.test(version))
    if (missing.length === 0) return
    const found = await this.#queryable.query<AdjustmentRow>(
      'SELECT version::text, account_id, model, terms FROM price_adjustments WHERE version = ANY($1::bigint[])',
      [missing],
    )
    for (const row of found) this.#known.set(row.version, { ...row, terms: fromStoredTerms(row.terms) })
  }
}
