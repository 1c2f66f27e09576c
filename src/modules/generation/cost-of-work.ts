import { fromStoredPrice, priceCounted, type Counted } from '../catalog/catalog.ts'
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
  if (cost === undefined) return undefined
  const nanoUsd = priceCounted(fromStoredPrice(cost.rates), counted, NO_TOKENS)
  return nanoUsd === null || nanoUsd > VENDOR_COST_MAX ? undefined : { nanoUsd, version: cost.version }
}
