import { invalidValue } from '../../kernel/app-error.ts'

/** Ten years. */
const FUTURE_MS_MAX = 10 * 366 * 86_400_000

/** Throws unless it is a moment of the future that somebody can mean. Null stands for now, or for none. */
export function requireMoment(param: string, momentMs: number | null, nowMs: number): void {
  if (momentMs === null) return
  if (momentMs <= nowMs)
    throw invalidValue(param, 'Prices of the past cannot be changed. Leave it out for now.')
  if (momentMs > nowMs + FUTURE_MS_MAX) throw invalidValue(param, 'It is more than ten years away.')
}
