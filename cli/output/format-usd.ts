/** Formats an amount with the digits that matter: cents from a cent on, else two significant digits. */
export function formatUsd(usd: number): string {
  if (usd === 0 || Math.abs(usd) >= 0.01) return `$${usd.toFixed(2)}`
  return `$${Number(usd.toPrecision(2)).toFixed(9).replace(/0+$/, '')}`
}

/** An amount of the account, which only keys with the scope `manage` read. */
export function formatAccountUsd(usd: number | null): string {
  return usd === null ? 'needs a key with the scope manage' : formatUsd(usd)
}
