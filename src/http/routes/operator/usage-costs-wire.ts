import { Type } from 'typebox'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { GatewayUsage } from '../../../modules/usage/usage.ts'
import { orNull } from '../../../wires/nullable.ts'

/** What vendors charge. Only in answers for operators. */
export const costFields = {
  vendor_cost_usd: orNull(
    Type.Number(),
    'What vendors charge for the requests whose cost is known. Null if none is known.',
  ),
  margin_usd: orNull(
    Type.Number(),
    'What those same requests were charged, less `vendor_cost_usd`. Null as that.',
  ),
  costed_requests: Type.Integer({ description: 'How many of `requests` have a known cost.' }),
}

export function costsToWire({ costs }: Pick<GatewayUsage, 'costs'>) {
  const isKnown = costs.requests > 0
  return {
    vendor_cost_usd: isKnown ? usdFromNanoUsd(costs.vendorCostNanoUsd) : null,
    margin_usd: isKnown ? usdFromNanoUsd(costs.revenueNanoUsd - costs.vendorCostNanoUsd) : null,
    costed_requests: costs.requests,
  }
}

/** The same as cells of a file. */
export function costCells(costs: GatewayUsage['costs']) {
  if (costs.requests === 0) return [undefined, undefined, 0]
  const { vendorCostNanoUsd, revenueNanoUsd, requests } = costs
  return [{ nanoUsd: vendorCostNanoUsd }, { nanoUsd: revenueNanoUsd - vendorCostNanoUsd }, requests]
}
