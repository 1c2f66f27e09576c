import type { Schemas } from '../api/gateway-client.ts'
import { formatNumber } from '../output/format-number.ts'
import { formatUsd } from '../output/format-usd.ts'
import { printableInLine } from '../output/printable.ts'
import { printTable } from '../output/tables/print-table.ts'
import type { Output } from '../output/terminal.ts'

type Diff = Schemas['CompareDiff']
type Measures = Diff['lanes'][number]['measures']
type Measure = NonNullable<Measures[keyof Measures]>

const MEASURES: readonly {
  readonly name: keyof Measures
  readonly title: string
  readonly format: (value: number) => string
}[] = [
  { name: 'score', title: 'score', format: (value) => formatNumber(value, 2) },
  { name: 'latency_ms', title: 'latency ms', format: formatWhole },
  { name: 'ttft_ms', title: 'first token ms', format: formatWhole },
  { name: 'cost_usd', title: 'cost', format: formatUsd },
  { name: 'completion_tokens', title: 'tokens', format: formatWhole },
]

interface Row {
  readonly lane: string
  readonly title: string
  readonly format: (value: number) => string
  readonly measure: Measure
}

/** Prints what changed since another run, lane by lane: both means, and the interval of the difference. */
export function printDiff(output: Output, { lanes, unmatched }: Diff): void {
  const rows = lanes.flatMap(({ lane, measures }) =>
    MEASURES.flatMap(({ name, title, format }): Row[] => {
      const measure = measures[name]
      return measure === null ? [] : [{ lane: lane.name, title, format, measure }]
    }),
  )
  if (rows.length === 0) output.note('These runs have no lane in common that answered the same prompts.')
  else
    printTable<Row>(
      output,
      [
        { title: 'lane', of: ({ lane }) => lane, rank: 1, isText: true },
        { title: 'of', of: ({ title }) => title },
        { title: 'before', of: (row) => row.format(row.measure.against_mean), isNumber: true, rank: 3 },
        { title: 'now', of: (row) => row.format(row.measure.mean), isNumber: true },
        { title: 'difference (95 %)', of: describeDifference, isNumber: true, rank: 4 },
        { title: 'verdict', of: ({ measure }) => measure.verdict.replaceAll('_', ' ') },
        { title: 'prompts', of: ({ measure }) => String(measure.prompts), isNumber: true, rank: 5 },
      ],
      rows,
    )
  for (const { model, name } of unmatched)
    output.note(`Only one of the runs has the lane ${printableInLine(name)} (${printableInLine(model)}).`)
}

function describeDifference({ measure, format }: Row): string {
  const { difference, difference_low: low, difference_high: high } = measure
  const interval = low === null || high === null ? '' : ` (${signed(low, format)} to ${signed(high, format)})`
  return `${signed(difference, format)}${interval}`
}

function signed(value: number, format: (value: number) => string): string {
  const text = format(Math.abs(value))
  if (text === format(0)) return text
  return `${value < 0 ? '−' : '+'}${text}`
}

function formatWhole(value: number): string {
  return String(Math.round(value))
}
