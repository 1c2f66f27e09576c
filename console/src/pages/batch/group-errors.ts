import type { ResultLine } from '../../api/result-line.ts'

/** Lines that failed for one reason. */
export interface ErrorKind {
  readonly code: string
  /** Of the first of them. */
  readonly message: string
  readonly count: number
  /** Some of their ids. */
  readonly lines: readonly string[]
}

const LINES_SHOWN = 20

/** Groups lines by why they failed, the most frequent reason first. */
export function groupErrors(lines: readonly ResultLine[]): ErrorKind[] {
  return [...Map.groupBy(lines, codeOf)]
    .map(([code, alike]) => ({
      code,
      message: alike[0] === undefined ? '' : messageOf(alike[0]),
      count: alike.length,
      lines: alike.slice(0, LINES_SHOWN).map(({ custom_id: id }) => id),
    }))
    .toSorted((one, other) => other.count - one.count)
}

function codeOf({ error, response }: ResultLine): string {
  if (error !== null) return error.code
  const { code, type } = Object(Object(response?.body).error)
  return String(code ?? type ?? response?.status_code ?? 'unknown')
}

function messageOf({ error, response }: ResultLine): string {
  return error?.message ?? String(Object(Object(response?.body).error).message ?? '')
}
