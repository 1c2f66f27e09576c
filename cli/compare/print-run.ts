import type { GatewayClient } from '../api/gateway-client.ts'
import { formatUsd } from '../output/format-usd.ts'
import { printPairs } from '../output/tables/print-pairs.ts'
import { printTable, type Column } from '../output/tables/print-table.ts'
import { printableInLine } from '../output/printable.ts'
import type { Output } from '../output/terminal.ts'
import type { Run } from './follow-run.ts'
import { formatNumber } from '../output/format-number.ts'

type Lane = Run['lanes'][number]
type Mean = { readonly mean: number; readonly low: number; readonly high: number } | null | undefined

/** Prints a run and its lanes: means with their 95 % intervals after the end, medians before. */
export function printRun(output: Output, run: Run): void {
  printPairs(output, [
    ['run', run.id],
    ['name', run.name],
    ['status', run.error === null ? run.status : `${run.status}: ${run.error.message}`],
    ['answers', `${run.cells_done} of ${run.cells_total}, ${run.cells_failed} failed`],
    ['cost', formatUsd(run.cost_usd)],
  ])
  output.line('')
  printTable<Lane>(
    output,
    [
      { title: 'lane', of: ({ name, winner }) => `${winner ? '* ' : '  '}${name}` },
      { title: 'answers', of: ({ stats }) => String(stats.completed), isNumber: true, rank: 6 },
      {
        title: 'score',
        of: ({ stats }) => interval(stats.confidence?.score, formatShare) ?? formatShare(stats.score),
        rank: 2,
      },
      ...run.scores.map((score) => scoreColumn(String(score['name']))),
      {
        title: 'latency ms',
        of: ({ stats }) =>
          interval(stats.confidence?.latency_ms, formatWhole) ?? formatWhole(stats.latency_ms.p50),
        rank: 4,
      },
      {
        title: 'first token ms',
        of: ({ stats }) => interval(stats.confidence?.ttft_ms, formatWhole) ?? formatWhole(stats.ttft_ms.p50),
        rank: 7,
      },
      {
        title: 'tokens/s',
        of: ({ stats }) =>
          interval(stats.confidence?.output_tokens_per_second, formatWhole) ??
          formatWhole(stats.output_tokens_per_second),
        rank: 8,
      },
      { title: 'cost', of: ({ stats }) => formatUsd(stats.cost_usd), isNumber: true, rank: 3 },
      { title: 'wins', of: ({ wins }) => String(wins), isNumber: true, rank: 5 },
      { title: 'lane id', of: ({ id }) => id, rank: 9 },
    ],
    run.lanes,
  )
}

/** Names are those of people, so that one may be that of a member of every object. */
function scoreColumn(name: string): Column<Lane> {
  return {
    title: name,
    of: ({ stats: { scores } }) =>
      formatShare(Object.hasOwn(scores, name) ? (scores[name]?.mean ?? null) : null),
    isNumber: true,
    rank: 2,
  }
}

/** Prints what votes and the judge say of a run, in words. */
export async function printVerdict(output: Output, gateway: GatewayClient, runId: string): Promise<void> {
  const path = { run_id: runId }
  const { verdict, votes, agreement } = await gateway.call((routes) =>
    routes.GET('/v1/compare/runs/{run_id}/verdict', { params: { path } }),
  )
  const counted = votes.total === 0 ? '' : ` (${votes.human} votes of people, ${votes.judge} of the judge)`
  output.line('')
  output.line(`Verdict: ${printableInLine(verdict.text)}${counted}`)
  const { voters, equal_share: equal, krippendorff_alpha: alpha } = agreement
  if (equal === null) return
  const beyondChance = alpha === null ? '' : ` (Krippendorff's alpha ${alpha.toFixed(2)})`
  output.line(
    `Agreement: ${voters} people voted, ${Math.round(equal * 100)} % of their votes agree${beyondChance}`,
  )
}

function interval(mean: Mean, format: (value: number) => string): string | null {
  return mean === null || mean === undefined
    ? null
    : `${format(mean.mean)} (${format(mean.low)}–${format(mean.high)})`
}

function formatWhole(value: number | null): string {
  return value === null ? '-' : String(Math.round(value))
}

function formatShare(value: number | null): string {
  return value === null ? '-' : formatNumber(value, 2)
}
