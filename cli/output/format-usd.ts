import { formatDollars } from './format-number.ts'

const CENT_DIGITS = 2
const NANO_DIGITS = 9

/** Formats an amount with the digits that matter: cents from a cent on, else two significant digits. */
export function formatUsd(usd: number): string {
  if (usd === 0 || Math.abs(usd) >= 0.01) return formatDollars(usd, CENT_DIGITS)
  const [, digits = ''] = Number(usd.toPrecision(2)).toFixed(NANO_DIGITS).replace(/0+$/, '').split('.')
  return formatDollars(usd, digits.length)
}

/** An amount of the account, which only keys with the scope `manage` read. */
export function formatAccountUsd(usd: number | null): string {
  return usd === null ? 'needs a key with the scope manage' : formatUsd(usd)
}
