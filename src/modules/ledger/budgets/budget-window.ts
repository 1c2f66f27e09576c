/** A budget is for each window of this length, in UTC; weeks begin on Monday. */
export const BUDGET_PERIODS = ['day', 'week', 'month', 'total'] as const
export type WindowPeriod = (typeof BUDGET_PERIODS)[number]

export interface BudgetWindow {
  /** The first day, as the database writes it: `2026-11-01`. */
  readonly startDate: string
  readonly startMs: number
  /** Where the next window begins. Infinite for all time. */
  readonly endMs: number
}

/** The window in which a time lies. */
export function windowAt(period: WindowPeriod, atMs: number): BudgetWindow {
  const at = new Date(atMs)
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  switch (period) {
    case 'day':
      return between(Date.UTC(year, month, day), Date.UTC(year, month, day + 1))
    case 'week': {
      const monday = day - ((at.getUTCDay() + 6) % 7)
      return between(Date.UTC(year, month, monday), Date.UTC(year, month, monday + 7))
    }
    case 'month':
      return between(Date.UTC(year, month), Date.UTC(year, month + 1))
    case 'total':
      return between(0, Number.POSITIVE_INFINITY)
  }
}

const DATE_LENGTH = 'YYYY-MM-DD'.length

function between(startMs: number, endMs: number): BudgetWindow {
  return { startDate: new Date(startMs).toISOString().slice(0, DATE_LENGTH), startMs, endMs }
}
