import type { UsageSelection, UsageSeries } from '../../api/usage.ts'
import { writeCsv } from '../../ui/data/write-csv.ts'

const COLUMNS = [
  'start',
  'end',
  'group',
  'tag',
  'requests',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'total_tokens',
  'cost_usd',
] as const

interface CsvContext {
  readonly names: ReadonlyMap<string, string>
  readonly selection: Pick<UsageSelection, 'by' | 'tag'>
}

/** Writes every bucket of every group as a line. `tag` is the tag of the group, or the one that was filtered by. */
export function writeUsageCsv({ series, other }: UsageSeries, { names, selection }: CsvContext): string {
  const { by, tag = '' } = selection
  const groups = [
    ...series.map(({ value, data }) => ({ group: names.get(value) ?? value, value, data })),
    { group: 'other', value: null, data: other },
  ]
  const rows = groups.flatMap(({ group, value, data }) =>
    data.map((bucket) => ({ ...bucket, group, tag: tagOf(by, value) ?? tag })),
  )
  return writeCsv(COLUMNS, rows)
}

function tagOf(by: UsageSelection['by'], value: string | null): string | null {
  return by.startsWith('tag:') && value !== null ? `${by.slice(4)}=${value}` : null
}
