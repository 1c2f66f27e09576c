import { invalidValue } from '../kernel/app-error.ts'

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i

/** Milliseconds since the Unix epoch. */
export function parseTimestamp(param: string, text: string): number {
  const epochMs = RFC_3339.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN
  if (Number.isNaN(epochMs)) {
    throw invalidValue(param, `${param} must be a time of the form 2030-01-31T12:00:00Z.`)
  }
  return epochMs
}
