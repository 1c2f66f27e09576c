const DAYS_SHOWN_MAX = 365

/** Says how long the balance lasts if spending goes on as in the last hour. */
export function describeDaysLeft(balanceUsd: number, burnRateUsdPerHour: number): string {
  if (burnRateUsdPerHour <= 0) return 'nothing spent in the last hour'
  const days = balanceUsd / burnRateUsdPerHour / 24
  if (days > DAYS_SHOWN_MAX) return 'more than a year left at the present rate'
  if (days < 1) return `${Math.max(0, Math.floor(days * 24))} h left at the present rate`
  return `${Math.floor(days)} ${Math.floor(days) === 1 ? 'day' : 'days'} left at the present rate`
}
