/** A calendar month of UTC. */
export interface StatementMonth {
  /** `2026-10` */
  readonly name: string
  readonly fromMs: number
  /** The beginning of the next month. */
  readonly toMs: number
}

const NAME = /^(\d{4})-(0[1-9]|1[0-2])$/
const YEAR_MIN = 2000

/** Reads `2026-10`. Returns null for anything else. */
export function parseMonth(name: string): StatementMonth | null {
  const [, year, month] = NAME.exec(name) ?? []
  if (year === undefined || month === undefined || Number(year) < YEAR_MIN) return null
  return monthOf(Date.UTC(Number(year), Number(month) - 1))
}

/** The month that a moment is in. */
export function monthOf(atMs: number): StatementMonth {
  const at = new Date(atMs)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  return {
    name: at.toISOString().slice(0, 'YYYY-MM'.length),
    fromMs: Date.UTC(year, month),
    toMs: Date.UTC(year, month + 1),
  }
}

export function monthAfter({ toMs }: StatementMonth): StatementMonth {
  return monthOf(toMs)
}

/** `2026-10-01`, as the database writes days. */
export function dayText(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 'YYYY-MM-DD'.length)
}
