import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../api/client.ts'
import { diffQuery, isUnderWay, runListQuery, type CompareRun } from '../../api/compare.ts'
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
    <div role="region" aria-label="Differences" tabIndex={0} className="overflow-x-auto">
      <table className="w-full text-sm">
        <thead>
          <tr className="border-b border-line text-left text-xs text-ink-soft">
            {['Lane', 'Measure', 'Before', 'Now', 'Verdict'].map((header) => (
              <th key={header} scope="col" className="px-2 py-1.5 font-medium">
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {diff.data.lanes.flatMap(({ lane, measures }) =>
            MEASURES.flatMap(({ id: measureId, label, format }) => {
              const measure = measures[measureId]
              if (measure === null) return []
              return [
                <tr
                  key={`${lane.lane_id} ${measureId}`}
                  className="tabular border-b border-line last:border-b-0"
                >
                  <td className="px-2 py-1.5">{lane.name}</td>
                  <td className="px-2 py-1.5">{label}</td>
                  <td className="px-2 py-1.5">{format(measure.against_mean)}</td>
                  <td className="px-2 py-1.5">{format(measure.mean)}</td>
                  <td className="px-2 py-1.5">
                    <Badge tone={TONES[measure.verdict] ?? 'plain'}>
                      {measure.verdict.replaceAll('_', ' ')}
                    </Badge>
                  </td>
                </tr>,
              ]
            }),
          )}
        </tbody>
      </table>
    </div>
  )
}
