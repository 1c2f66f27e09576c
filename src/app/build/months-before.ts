/** The start of the month that is this many months before the present one, in UTC. */
export function monthsBefore(nowMs: number, months: number): number {
  const now = new Date(nowMs)
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months)
}
