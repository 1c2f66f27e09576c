import type { UsageSeries } from '../../api/usage.ts'

const COLUMNS = [
  'start',
  'end',
  'group',
  'requests',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'total_tokens',
  'cost_usd',
] as const

/** Writes every bucket of every group as a line. */
export function writeUsageCsv({ series, other }: UsageSeries, names: ReadonlyMap<string, string>): string {
  const groups = [
    ...series.map(({ value, data }) => ({ group: names.get(value) ?? value, data })),
    { group: 'other', data: other },
  ]
  const lines = groups.flatMap(({ group, data }) =>
    data.map((bucket) =>
      COLUMNS.map((column) => writeCell(column === 'group' ? group : bucket[column])).join(','),
    ),
  )
  return [COLUMNS.join(','), ...lines, ''].join('\r\n')
}

/** Spreadsheets run cells that begin like a formula, and names are written by people. */
function writeCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
