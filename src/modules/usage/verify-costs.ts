import type { Queryable } from '../../storage/database.ts'
import {
  applyBatchFactor,
  fromStoredPrice,
  priceCounted,
  readFactor,
  type ModelPrice,
} from '../catalog/catalog.ts'

interface CostRow {
  readonly prompt_tokens: bigint
  readonly cached_tokens: bigint
  readonly cache_write_tokens: bigint
  readonly completion_tokens: bigint
  readonly counted: string | null
  readonly vendor_cost_nano_usd: bigint | null
  readonly cost_version: string | null
  readonly cost_batch_factor: string | null
}

const LISTS_KEPT_MAX = 10_000

/** The lists of what vendors charge that records name: those of a file by their digest, and others by a price list and their place in it. */
export class CostLists {
  readonly #queryable: Queryable
  readonly #known = new Map<string, ModelPrice>()

  constructor(queryable: Queryable) {
    this.#queryable = queryable
  }

  async load(rows: readonly CostRow[]): Promise<void> {
    if (this.#known.size > LISTS_KEPT_MAX) this.#known.clear()
    const named = new Set(rows.flatMap(({ cost_version: version }) => version ?? []))
    const missing = [...named].filter((version) => !this.#known.has(version))
    if (missing.length === 0) return
    const lists = missing.flatMap((version) => /^(\d{1,18})\/\d{1,4}$/.exec(version)?.[1] ?? [])
    const found = await this.#queryable.query<{ version: string; rates: unknown }>(
      `SELECT version, rates FROM file_prices WHERE version = ANY($1::text[])
       UNION ALL SELECT version || '/' || number - 1, cost -> 'rates'
       FROM model_prices, jsonb_array_elements(costs) WITH ORDINALITY AS one (cost, number)
       WHERE version = ANY($2::bigint[])`,
      [missing, lists],
    )
    for (const { version, rates } of found) this.#known.set(version, fromStoredPrice(rates))
  }

  /** Returns what is wrong with the cost of a record, which is computed again. */
  findProblem(row: CostRow): string | null {
    const version = row.cost_version ?? ''
    const list = this.#known.get(version)
    if (list === undefined) return `names the cost list ${version}, which is not stored`
    const price = withBatchFactor(list, row.cost_batch_factor)
    if (price === null)
      return `names the batch factor '${row.cost_batch_factor}', which this release does not know`
    const expected = priceCounted(price, row.counted ?? '', {
      promptTokens: Number(row.prompt_tokens),
      cachedTokens: Number(row.cached_tokens),
      cacheWriteTokens: Number(row.cache_write_tokens),
      completionTokens: Number(row.completion_tokens),
    })
    if (expected === row.vendor_cost_nano_usd) return null
    return `cost the gateway ${row.vendor_cost_nano_usd} nano-dollars, and ${expected} by the cost list ${version}`
  }
}

/** Returns the price of a line of a batch. Null for a factor that this release does not know. */
export function withBatchFactor(price: ModelPrice, text: string | null): ModelPrice | null {
  if (text === null) return price
  const millionths = readFactor(text)
  return millionths === null ? null : applyBatchFactor(price, millionths)
}
