import { useMemo } from 'react'
import type { Schemas } from '../../api/client.ts'
import type { CompareRun } from '../../api/compare.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { formatShare, formatShortCount } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Section } from '../../ui/layout/section.tsx'
import { Badge } from '../../ui/text/badge.tsx'

type Mean = Schemas['CompareMean'] | null | undefined
type Lane = CompareRun['lanes'][number]

interface Measure {
  readonly id: string
  readonly header: string
  /** What is known before the run has ended. */
  readonly valueOf: (lane: Lane) => number | null
  readonly meanOf: (lane: Lane) => Mean
  readonly format: (value: number) => string
  /** Left out where the page is narrow. */
  readonly isMinor: boolean
}

/** The mean of each measure by lane, with its 95 % interval once the run has ended. */
export function LaneStatistics({ run }: { readonly run: CompareRun }) {
  const columns = useMemo(() => columnsOf(run.scores.map(({ name }) => String(name))), [run.scores])
  return (
    <Section title="Lanes">
      <DataTable
        label="Lanes"
        tools={{ id: 'lanes' }}
        columns={columns}
        rows={run.lanes}
        rowId={({ id }) => id}
      />
    </Section>
  )
}

function columnsOf(scores: readonly string[]): Column<Lane>[] {
  const ofScores = scores.map((name): Measure => ({
    id: `score_${encodeURIComponent(name)}`,
    header: name,
    valueOf: ({ stats }) => stats.scores[name]?.mean ?? null,
    meanOf: () => null,
    format: formatShare,
    isMinor: true,
  }))
  const [score, ...others] = MEASURES
  return [
    {
      id: 'lane',
      header: 'Lane',
      value: ({ name }) => name,
      render: ({ name, winner }) => (
        <span title={name}>
          <span className="font-medium">{name}</span> {winner && <Badge tone="accent">winner</Badge>}
        </span>
      ),
    },
    {
      id: 'answers',
      header: 'Answers',
      value: ({ stats }) => stats.completed,
      width: '104px',
      align: 'right',
      isMinor: true,
      render: ({ stats }) => (
        <>
          {stats.completed}
          {stats.failed > 0 && <span className="text-bad"> + {stats.failed} failed</span>}
        </>
      ),
    },
    ...[score, ...ofScores, ...others].map(columnOf),
    {
      id: 'wins',
      header: 'Wins',
      value: ({ wins }) => wins,
      width: '64px',
      align: 'right',
      isMinor: true,
      render: ({ wins }) => wins,
    },
  ]
}

const MEASURES: readonly [Measure, ...Measure[]] = [
  {
    id: 'score',
    header: 'Score',
    valueOf: ({ stats }) => stats.score,
    meanOf: ({ stats }) => stats.confidence?.score,
    format: formatShare,
    isMinor: false,
  },
  {
    id: 'latency_ms',
    header: 'Latency',
    valueOf: ({ stats }) => stats.latency_ms.p50,
    meanOf: ({ stats }) => stats.confidence?.latency_ms,
    format: formatDuration,
    isMinor: true,
  },
  {
    id: 'ttft_ms',
    header: 'First token',
    valueOf: ({ stats }) => stats.ttft_ms.p50,
    meanOf: ({ stats }) => stats.confidence?.ttft_ms,
    format: formatDuration,
    isMinor: true,
  },
  {
    id: 'tokens_per_second',
    header: 'Tokens/s',
    valueOf: ({ stats }) => stats.output_tokens_per_second,
    meanOf: ({ stats }) => stats.confidence?.output_tokens_per_second,
    format: formatShortCount,
    isMinor: true,
  },
  {
    id: 'cost_usd',
    header: 'Cost of an answer',
    valueOf: () => null,
    meanOf: ({ stats }) => stats.confidence?.cost_usd,
    format: formatUsd,
    isMinor: false,
  },
]

function columnOf({ id, header, valueOf, meanOf, format, isMinor }: Measure): Column<Lane> {
  const shownOf = (lane: Lane): number | null => meanOf(lane)?.mean ?? valueOf(lane)
  return {
    id,
    header,
    value: shownOf,
    width: '136px',
    align: 'right',
    isMinor,
    render: (lane) => <MeasureCell shown={shownOf(lane)} mean={meanOf(lane)} format={format} />,
  }
}

interface MeasureCellProps {
  readonly shown: number | null
  readonly mean: Mean
  readonly format: (value: number) => string
}

function MeasureCell({ shown, mean, format }: MeasureCellProps) {
  if (shown === null) return <span className="text-ink-faint">none</span>
  return (
    <>
      {format(shown)}
      {mean && (
        <span className="block pb-1 text-xs text-ink-faint max-sm:hidden">
          {format(mean.low)} – {format(mean.high)}
        </span>
      )}
    </>
  )
}
