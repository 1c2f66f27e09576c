import { firstIdAt } from '../../kernel/identifiers.ts'

/** The time that a partition covers, in UTC. */
export type Step = 'day' | 'month'

/** Milliseconds since the epoch. The end is not part of it. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

export function startOfStep(step: Step, epochMs: number): number {
  return startOf(step, epochMs, 0)
}

/** The step that contains this time. */
export function spanOfStep(step: Step, epochMs: number): Span {
  return { fromMs: startOf(step, epochMs, 0), toMs: startOf(step, epochMs, 1) }
}

/** The steps from the one of this time on. */
export function spansFrom(step: Step, epochMs: number, count: number): Span[] {
  return Array.from({ length: count }, (_, index) => ({
    fromMs: startOf(step, epochMs, index),
    toMs: startOf(step, epochMs, index + 1),
  }))
}

/** `usage_records_2026_11`, `failed_requests_2026_11_19`. */
export function namePartition(table: string, step: Step, { fromMs }: Span): string {
  const digits = step === 'month' ? 7 : 10
  return `${table}_${new Date(fromMs).toISOString().slice(0, digits).replaceAll('-', '_')}`
}

/** SQL. */
export function boundsOf({ fromMs, toMs }: Span): string {
  return `FOR VALUES FROM ('${firstIdAt(fromMs)}') TO ('${firstIdAt(toMs)}')`
}

function startOf(step: Step, epochMs: number, later: number): number {
  const time = new Date(epochMs)
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()]
  return step === 'month' ? Date.UTC(year, month + later) : Date.UTC(year, month, day + later)
}
