import type { RequestDetails } from '../api/requests.ts'
import { formatDuration } from '../ui/format/format-duration.ts'

type Timed = Pick<RequestDetails, 'timings' | 'attempts'>

interface Span {
  readonly label: string
  readonly startMs: number
  readonly durationMs: number
}

/** Where the time of a request went, on one axis. */
export function RequestTimings({ request }: { readonly request: Timed }) {
  const totalMs = Math.max(1, request.timings.total_ms)
  return (
    <ol className="flex flex-col gap-1.5 text-xs">
      {spansOf(request).map(({ label, startMs, durationMs }) => (
        <li key={label} className="grid grid-cols-[128px_1fr_72px] items-center gap-3">
          <span className="truncate text-ink-soft">{label}</span>
          <span aria-hidden="true" className="relative h-3 rounded bg-sunken">
            <span
              className="absolute inset-y-0 min-w-0.5 rounded bg-accent"
              style={{
                left: `${Math.min(99, (startMs / totalMs) * 100)}%`,
                width: `${Math.min(100, (durationMs / totalMs) * 100)}%`,
              }}
            />
          </span>
          <span className="tabular text-right">{formatDuration(durationMs)}</span>
        </li>
      ))}
    </ol>
  )
}

function spansOf({ timings, attempts }: Timed): Span[] {
  const { queue_ms: queueMs, ttft_ms: firstMs, streaming_ms: streamingMs, total_ms: totalMs } = timings
  const spans: (Span | null)[] = [
    queueMs === null ? null : { label: 'Before the call', startMs: 0, durationMs: queueMs },
    ...(attempts ?? []).map(({ number, provider, started_ms: startMs, duration_ms: durationMs }) => ({
      label: `${number}. ${provider}`,
      startMs,
      durationMs,
    })),
    firstMs === null ? null : { label: 'To the first token', startMs: 0, durationMs: firstMs },
    firstMs === null || streamingMs === null
      ? null
      : { label: 'Streaming', startMs: firstMs, durationMs: streamingMs },
    { label: 'In all', startMs: 0, durationMs: totalMs },
  ]
  return spans.filter((span) => span !== null)
}
