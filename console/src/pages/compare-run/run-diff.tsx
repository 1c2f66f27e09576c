import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../api/client.ts'
import { diffQuery, isUnderWay, runListQuery, type CompareRun } from '../../api/compare.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatShortCount } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Badge, type Tone } from '../../ui/text/badge.tsx'

type Measures = Schemas['CompareDiff']['lanes'][number]['measures']

interface RunDiffProps {
  readonly run: CompareRun
  /** Null if the prompts come from no dataset. */
  readonly datasetId: string | null
  readonly against: string | undefined
  readonly onAgainst: (id: string | undefined) => void
}

/** What changed since another run of the same dataset, or of the same prompts. */
export function RunDiff({ run, datasetId, against, onAgainst }: RunDiffProps) {
  const runs = useInfiniteQuery(runListQuery())
  const others = (runs.data?.pages.flatMap(({ data }) => data) ?? []).filter(
    ({ id, dataset_id: dataset }) =>
      id !== run.id && (id === against || (datasetId !== null && dataset === datasetId)),
  )
  return (
    <Section title="Compared with another run">
      <div className="flex flex-col gap-4">
        <SelectField
          label={datasetId === null ? 'Another run of these prompts' : 'Another run of this dataset'}
          value={against ?? ''}
          choices={[
            { value: '', label: others.length === 0 ? 'there is none yet' : 'choose one' },
            ...others.map(({ id, name, created_at: at }) => ({
              value: id,
              label: `${name}, ${at.slice(0, 16).replace('T', ' ')} UTC`,
            })),
          ]}
          onChange={(chosen) => onAgainst(chosen === '' ? undefined : chosen)}
          className="max-w-md"
        />
        {against !== undefined && !isUnderWay(run) && <DiffTable id={run.id} against={against} />}
      </div>
    </Section>
  )
}

const MEASURES: readonly { id: keyof Measures; label: string; format: (value: number) => string }[] = [
  { id: 'score', label: 'Score', format: formatShortCount },
  { id: 'latency_ms', label: 'Latency', format: formatDuration },
  { id: 'ttft_ms', label: 'First token', format: formatDuration },
  { id: 'cost_usd', label: 'Cost of an answer', format: formatUsd },
  { id: 'completion_tokens', label: 'Length in tokens', format: formatShortCount },
]

const TONES: Readonly<Record<string, Tone>> = { better: 'good', worse: 'bad' }

function DiffTable({ id, against }: { readonly id: string; readonly against: string }) {
  const diff = useQuery(diffQuery(id, against))
  if (diff.isPending) return <SkeletonRows count={3} />
  if (diff.error)
    return (
      <ErrorPanel
        title="The runs could not be compared"
        error={diff.error}
        onRetry={() => void diff.refetch()}
      />
    )
  return (
    <DataTable
      label="Differences"
      tools={{ id: 'differences' }}
      columns={COLUMNS}
      rows={diff.data.lanes.flatMap(differencesOf)}
      rowId={({ laneId, measure }) => `${laneId} ${measure.id}`}
    />
  )
}

interface Difference {
  readonly laneId: string
  readonly lane: string
  readonly measure: (typeof MEASURES)[number]
  readonly figures: NonNullable<Measures[keyof Measures]>
}

function differencesOf({ lane, measures }: Schemas['CompareDiff']['lanes'][number]): Difference[] {
  return MEASURES.flatMap((measure) => {
    const figures = measures[measure.id]
    return figures === null ? [] : [{ laneId: lane.lane_id, lane: lane.name, measure, figures }]
  })
}

const COLUMNS: readonly Column<Difference>[] = [
  { id: 'lane', header: 'Lane', value: ({ lane }) => lane, render: ({ lane }) => lane },
  {
    id: 'measure',
    header: 'Measure',
    value: ({ measure }) => measure.id,
    width: '20%',
    render: ({ measure }) => measure.label,
  },
  {
    id: 'before',
    header: 'Before',
    value: ({ figures }) => figures.against_mean,
    width: '112px',
    align: 'right',
    isMinor: true,
    render: ({ figures, measure }) => measure.format(figures.against_mean),
  },
  {
    id: 'now',
    header: 'Now',
    value: ({ figures }) => figures.mean,
    width: '112px',
    align: 'right',
    render: ({ figures, measure }) => measure.format(figures.mean),
  },
  {
    id: 'verdict',
    header: 'Verdict',
    value: ({ figures }) => figures.verdict.replaceAll('_', ' '),
    width: '208px',
    render: ({ figures: { verdict } }) => (
      <Badge tone={TONES[verdict] ?? 'plain'}>{verdict.replaceAll('_', ' ')}</Badge>
    ),
  },
]
