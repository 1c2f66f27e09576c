import type { Batch } from '../../api/batches.ts'
import { msOf } from '../../api/organization-pages.ts'
import { ProgressBar } from '../../ui/feedback/progress-bar.tsx'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatNumber } from '../../ui/format/format-number.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Section } from '../../ui/layout/section.tsx'
import { Figure } from '../../ui/text/figure.tsx'
import { Time } from '../../ui/text/time.tsx'

/** How far the batch is, how fast, and what it costs. */
export function BatchProgress({ batch }: { readonly batch: Batch }) {
  const { request_counts: counts, status, usage } = batch
  const ended = counts.completed + counts.failed
  const speed = batch.lines_per_second
  return (
    <>
      {status === 'validating' && <ProgressBar label="The lines are checked" percent={null} />}
      {(status === 'in_progress' || status === 'cancelling') && (
        <ProgressBar
          label={`${formatNumber(ended)} of ${formatNumber(counts.total)} lines have ended`}
          percent={counts.total === 0 ? 0 : (ended / counts.total) * 100}
        />
      )}
      {status === 'finalizing' && <ProgressBar label="The files are written" percent={null} />}
      <Section>
        <div className="grid grid-cols-2 gap-6 lg:grid-cols-4">
          <Figure
            label="Answered"
            value={formatNumber(counts.completed)}
            unit={`of ${formatNumber(counts.total)}`}
            note={`${formatNumber(counts.failed)} failed`}
          />
          <Figure
            label="Speed"
            value={speed === null ? '–' : formatNumber(speed, speed < 10 ? 2 : 0)}
            unit={speed === null ? undefined : 'lines a second'}
            note={
              batch.seconds_left === null ? (
                <>
                  Made <Time at={msOf(batch.created_at)} />
                </>
              ) : (
                `about ${formatDuration(batch.seconds_left * 1000)} left`
              )
            }
          />
          <Figure
            label="Cost so far"
            value={formatUsd(batch.cost_usd)}
            note={`expected ${formatUsd(batch.expected_cost_usd)}`}
          />
          <Figure
            label="Tokens"
            value={formatNumber(usage.total_tokens)}
            note={`${formatNumber(usage.input_tokens)} in, ${formatNumber(usage.output_tokens)} out`}
          />
        </div>
      </Section>
    </>
  )
}
