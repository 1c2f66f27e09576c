import { invalidValue } from '../../kernel/app-error.ts'

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i

const DATE = /^\d{4}-\d{2}-\d{2}$/

/** Returns milliseconds since the Unix epoch. A date without a time is its first moment in UTC. */
export function parseTimestamp(param: string, text: string): number {
  const isKnown = RFC_3339.test(text) || isDate(text)
  const epochMs = isKnown ? Date.parse(text.toUpperCase()) : Number.NaN
  if (Number.isNaN(epochMs)) {
    throw invalidValue(
      param,
      `${param} must be a date or time of the form 2030-01-31 or 2030-01-31T12:00:00Z.`,
    )
  }
  return epochMs
}

/** Returns false for days such as 31 February, which some parsers move to the next month. */
function isDate(text: string): boolean {
  if (!DATE.test(text)) return false
  const epochMs = Date.parse(text)
  return !Number.isNaN(epochMs) && new Date(epochMs).toISOString().startsWith(text)
}
