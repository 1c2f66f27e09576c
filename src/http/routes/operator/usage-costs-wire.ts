import { Type } from 'typebox'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { GatewayUsage } from '../../../modules/usage/usage.ts'
import { orNull } from '../../../wires/nullable.ts'

/** What vendors charge. Only in answers for operators. */
export const costFields = {
  vendor_cost_usd: orNull(
    Type.Number(),
    'What vendors charge for the requests whose cost is known. Null if none is known, and by tag.',
  ),
  margin_usd: orNull(
    Type.Number(),
    'What those same requests were charged, less `vendor_cost_usd`. Null as that.',
  ),
  costed_requests: orNull(Type.Integer(), 'How many of `requests` have a known cost. Null by tag.'),
}

export function costsToWire({ costs }: Pick<GatewayUsage, 'costs'>) {
  const isKnown = costs !== null && costs.requests > 0
  return {
    vendor_cost_usd: isKnown ? usdFromNanoUsd(costs.vendorCostNanoUsd) : null,
    margin_usd: isKnown ? usdFromNanoUsd(costs.revenueNanoUsd - costs.vendorCostNanoUsd) : null,
    costed_requests: costs?.requests ?? null,
  }
}

/** The same as cells of a file. */
export function costCells(costs: GatewayUsage['costs']) {
  if (costs === null || costs.requests === 0) return [undefined, undefined, costs?.requests]
  const { vendorCostNanoUsd, revenueNanoUsd, requests } = costs
  return [{ nanoUsd: vendorCostNanoUsd }, { nanoUsd: revenueNanoUsd - vendorCostNanoUsd }, requests]
}
