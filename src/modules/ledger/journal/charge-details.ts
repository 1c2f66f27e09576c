import type { UsageRecord } from '../books/usage-record.ts'
import { quote } from './quote-text.ts'

/** Details that need no quotes in an array. */
const PLAIN_DETAILS = /^[\w./:@%;|+-]+$/

/** Fields of details, which the price list, what was counted and the list of the vendor's cost follow. */
const NO_DETAILS = ';;;;;'

/**
 * The price list, with its adjustment, what was counted and the list of the vendor's cost stand behind the details, and not in arrays of their own: a process of an earlier release that posts
 * the charge keeps them, and a commit costs no more.
 */
export function toDetails({ details, priceVersion, counted = '', vendorCost }: UsageRecord): string {
  if (details === undefined && priceVersion === undefined) return '""'
  const priced =
    priceVersion === undefined ? (details ?? '') : `${details ?? NO_DETAILS};${priceVersion};${counted}`
  const text =
    vendorCost === undefined || priceVersion === undefined ? priced : `${priced};${vendorCost.version}`
  return PLAIN_DETAILS.test(text) ? text : quote(text)
}

/** SQL: whether it was a line of a batch. */
export const IS_BATCH = "coalesce(split_part(details, ';', 2) = 'b', false)"

/** SQL: what a usage record names. Null for records of earlier releases. A price list that was adjusted stands before the adjustment. */
export const PRICE_VERSION = "nullif(split_part(split_part(details, ';', 7), '+', 1), '')"
export const PRICE_ADJUSTMENT = "nullif(split_part(split_part(details, ';', 7), '+', 2), '')"
/** SQL: the factor of a line of a batch, behind the adjustment. */
export const BATCH_FACTOR = "nullif(split_part(split_part(details, ';', 7), '+', 3), '')"
export const COUNTED = "nullif(split_part(details, ';', 8), '')"
export const COST_VERSION = "nullif(split_part(split_part(details, ';', 9), '+', 1), '')"
export const COST_BATCH_FACTOR = "nullif(split_part(split_part(details, ';', 9), '+', 3), '')"
