import { invalidValue } from '../../kernel/app-error.ts'
import { nanoUsdFromUsd, type NanoUsd } from '../../kernel/money.ts'

/** The largest amount whose every nano-dollar survives a JSON number. */
export const USD_MAX = 8_000_000

/** A dollar amount of a request. Refused rather than rounded when it is finer than a nano-dollar. */
export function parseUsd(param: string, usd: number): NanoUsd {
  try {
    return nanoUsdFromUsd(usd)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw invalidValue(param, `${param} must have at most nine decimals.`)
  }
}
