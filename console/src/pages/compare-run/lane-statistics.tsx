import type { Schemas } from '../../api/client.ts'
import type { CompareRun } from '../../api/compare.ts'
import { formatShare, formatShortCount } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Section } from '../../ui/layout/section.tsx'
import { Badge } from '../../ui/text/badge.tsx'

type Mean = Schemas['CompareMean'] | null | undefined

const MEASURES = ['Latency', 'First token', 'Tokens/s', 'Cost of an answer', 'Wins']

/** The mean of each measure by lane, with its 95 % interval once the run has ended. */
export function LaneStatistics({ run }: { readonly run: CompareRun }) {
  const scores = run.scores.map(({ name }) => String(name))
  const headers = ['Lane', 'Answers', 'Score', ...scores, ...MEASURES]
  return (
    <Section title="Lanes">
      <div role="region" aria-label="Lanes" tabIndex={0} className="overflow-x-auto">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-xs text-ink-soft">
              {headers.map((header, index) => (
                <th
                  key={header}
                  scope="col"
                  className={`px-2 py-1.5 font-medium whitespace-nowrap ${index === 0 ? 'text-left' : 'text-right'}`}
                >
                  {header}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {run.lanes.map((lane) => {
              const { stats } = lane
              const known = stats.confidence
              return (
                <tr key={lane.id} className="tabular border-b border-line last:border-b-0">
                  <th scope="row" className="px-2 py-2 text-left font-medium whitespace-nowrap">
                    {lane.name} {lane.winner && <Badge tone="accent">winner</Badge>}
                  </th>
                  <td className="px-2 py-2 text-right whitespace-nowrap">
                    {stats.completed}
                    {stats.failed > 0 && <span className="text-bad"> + {stats.failed} failed</span>}
                  </td>
                  <Measure value={stats.score} mean={known?.score} format={formatShare} />
                  {scores.map((name) => (
                    <Measure
                      key={name}
                      value={stats.scores[name]?.mean ?? null}
                      mean={null}
                      format={formatShare}
                    />
                  ))}
                  <Measure value={stats.latency_ms.p50} mean={known?.latency_ms} format={formatDuration} />
                  <Measure value={stats.ttft_ms.p50} mean={known?.ttft_ms} format={formatDuration} />
                  <Measure
                    value={stats.output_tokens_per_second}
                    mean={known?.output_tokens_per_second}
                    format={formatShortCount}
                  />
                  <Measure value={null} mean={known?.cost_usd} format={formatUsd} />
                  <td className="px-2 py-2 text-right">{lane.wins}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </Section>
  )
}

interface MeasureProps {
  /** What is known before the run has ended. */
  readonly value: number | null
  readonly mean: Mean
  readonly format: (value: number) => string
}

function Measure({ value, mean, format }: MeasureProps) {
  const shown = mean?.mean ?? value
  return (
    <td className="px-2 py-2 text-right whitespace-nowrap">
      {shown === null ? <span className="text-ink-faint">none</span> : format(shown)}
      {mean && (
        <span className="block text-xs text-ink-faint">
          {format(mean.low)} – {format(mean.high)}
        </span>
      )}
    </td>
  )
}
