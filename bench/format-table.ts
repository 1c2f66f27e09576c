import type { MetricRow, Verdict } from './scenarios/scenario.ts'

/** Formats one line per figure and one column per contestant, as Markdown that can be pasted into a document. */
export function formatTable(contestantIds: readonly string[], rows: readonly MetricRow[]): string {
  const lines = [
    ['', ...contestantIds],
    ...rows.map(({ label, cells }) => [label, ...contestantIds.map((id) => cells[id] ?? '–')]),
  ]
  const widths =
    lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? []
  const format = (line: readonly string[]) =>
    `| ${line.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  const [header, ...body] = lines.map(format)
  return [header, rule, ...body].join('\n')
}

export function formatVerdicts(verdicts: readonly Verdict[]): string {
  if (verdicts.length === 0) return 'No target was measured.'
  return verdicts.map(({ target, measured, isMet }) => `${wordFor(isMet)} ${target}: ${measured}`).join('\n')
}

function wordFor(isMet: boolean | null): string {
  if (isMet === null) return 'told  '
  return isMet ? 'met   ' : 'MISSED'
}
