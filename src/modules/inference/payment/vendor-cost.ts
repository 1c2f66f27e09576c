import {
  COUNTED_NOTHING,
  applyBatchFactor,
  batchMillionthsOf,
  costOfRoute,
  priceCounted,
  withFactor,
  type BatchWay,
  type CatalogModel,
  type Counted,
  type RouteCost,
} from '../../catalog/catalog.ts'
import { VENDOR_COST_MAX, type VendorCost } from '../../ledger/ledger.ts'
import type { TokenUsage } from '../../../wires/token-usage.ts'
import type { InferenceRecord } from '../inference-record.ts'

const NO_TOKENS: TokenUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 }

/**
 * What the vendor charges for a request, by the same counts as the charge and the cost of the route that served it. Undefined if
 * nobody stated a cost, if nothing was counted, or if it does not suit what was counted: what is unknown is not zero. On the hot path.
 */
export function vendorCostOf(
  model: Pick<CatalogModel, 'routes'>,
  { provider, attempts, usage }: Pick<InferenceRecord, 'provider' | 'attempts' | 'usage'>,
  counted: Counted,
  batchWay?: BatchWay,
): VendorCost | undefined {
  if (provider === null || counted === COUNTED_NOTHING || !model.routes.some(hasCost)) return undefined
  const upstreamModel = attempts.findLast((attempt) => attempt.provider === provider)?.upstreamModel
  const cost = costInBatch(costOfRoute(model, provider, upstreamModel), batchWay)
  const nanoUsd = cost === undefined ? null : priceCounted(cost.price, counted, usage ?? NO_TOKENS)
  return cost === undefined || nanoUsd === null || nanoUsd > VENDOR_COST_MAX
    ? undefined
    : { nanoUsd, version: cost.version }
}

/** The vendor asks its full price for a line that it was asked for by itself. */
function costInBatch(cost: RouteCost | undefined, way: BatchWay | undefined): RouteCost | undefined {
  if (cost === undefined || way?.kind !== 'handed') return cost
  const millionths = batchMillionthsOf(cost.price, way)
  return { price: applyBatchFactor(cost.price, millionths), version: withFactor(cost.version, millionths) }
}

function hasCost({ cost }: CatalogModel['routes'][number]): boolean {
  return cost !== undefined
}
