import type { Charge } from '../books/usage-record.ts'

/** What vendors charge, added up for each hour. Written only if the cost of some charge is known. */
export const COST_SUMMED = ['vendor_cost_nano_usd', 'costed_requests', 'costed_revenue_nano_usd'] as const

/** Stands for a cost that is unknown. */
export const UNKNOWN_COST = -1

type AllSeries = readonly (readonly Charge[])[]

export function toCosts(allSeries: AllSeries): string {
  return allSeries
    .flatMap((charges) => charges.map(({ record }) => record.vendorCost?.nanoUsd ?? UNKNOWN_COST))
    .join()
}

/** The columns of `COST_SUMMED`. */
export function toCostSums(allSeries: AllSeries): string {
  return allSeries
    .map((charges) => {
      let known = 0
      let sum = 0n
      let revenue = 0n
      for (const { record, costNanoUsd } of charges) {
        if (record.vendorCost === undefined) continue
        known += 1
        sum += record.vendorCost.nanoUsd
        revenue += costNanoUsd
      }
      return `${sum},${known},${revenue}`
    })
    .join()
}
