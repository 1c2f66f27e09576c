import { Link } from '@tanstack/react-router'
import type { CompareRun } from '../../api/compare.ts'
import { formatNumber } from '../../ui/format/format-number.ts'
import { Section } from '../../ui/layout/section.tsx'
import { BatchStatus } from '../../ui/text/batch-status.tsx'

/** The batches that ask the cells of a run. */
export function RunBatches({ run }: { readonly run: CompareRun }) {
  if (run.mode !== 'batch') return null
  const batches = run.batches ?? []
  return (
    <Section title="Batches">
      {batches.length === 0 && <p className="text-sm text-ink-soft">They are being made.</p>}
      <ul className="flex flex-col gap-2 text-sm">
        {batches.map(({ id, lane_id: laneId, status, request_counts: counts }) => (
          <li key={id} className="tabular flex flex-wrap items-center gap-x-3 gap-y-1">
            <span className="font-medium">{run.lanes.find((lane) => lane.id === laneId)?.name}</span>
            <BatchStatus status={status} />
            <span className="text-ink-soft">
              {formatNumber(counts.completed + counts.failed)} of {formatNumber(counts.total)} answers
            </span>
            <Link
              to="/batches/$id"
              params={{ id }}
              className="min-w-0 truncate font-mono text-xs text-accent underline"
            >
              {id}
            </Link>
          </li>
        ))}
      </ul>
      <p className="mt-3 text-xs text-ink-faint">
        Answers of batches have no latency: they come when there is room, within 24 hours.
      </p>
    </Section>
  )
}
