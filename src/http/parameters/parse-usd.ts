import { invalidValue } from '../../kernel/app-error.ts'
import { nanoUsdFromUsd, type NanoUsd } from '../../kernel/money.ts'

/** The largest amount that a JSON number holds with nano-dollar precision. */
export const USD_MAX = 8_000_000

/** Parses a dollar amount of a request. Throws instead of rounding if it has more than nine decimals. */
export function parseUsd(param: string, usd: number): NanoUsd {
  try {
    return nanoUsdFromUsd(usd)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw invalidValue(param, `${param} must have at most nine decimals.`)
  }
}
