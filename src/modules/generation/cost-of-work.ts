import {
  COUNTED_NOTHING,
  fromStoredPrice,
  priceCounted,
  type Counted,
  type ModelPrice,
} from '../catalog/catalog.ts'
import { VENDOR_COST_MAX, type VendorCost } from '../ledger/ledger.ts'
import type { WorkPrice } from './price-work.ts'

/** Work counts no tokens. */
const NO_TOKENS = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 }

/** What the vendor that did the work of a task charges. Undefined: unknown. */
export function costOfWork(
  { costs }: Pick<WorkPrice, 'costs'>,
  { provider, upstreamModel }: { readonly provider: string; readonly upstreamModel: string },
  counted: Counted,
): VendorCost | undefined {
  const cost = costs.find((one) => one.provider === provider && one.model === upstreamModel)
  const price = cost === undefined || counted === COUNTED_NOTHING ? null : readCost(cost.rates)
  if (cost === undefined || price === null) return undefined
  const nanoUsd = priceCounted(price, counted, NO_TOKENS)
  return nanoUsd === null || nanoUsd > VENDOR_COST_MAX ? undefined : { nanoUsd, version: cost.version }
}

/** Null for what another release stored: the work is charged all the same. */
function readCost(rates: unknown): ModelPrice | null {
  try {
    return fromStoredPrice(rates)
  } catch {
    return null
  }
}
