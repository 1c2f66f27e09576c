import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Schemas } from '../../api/client.ts'
import { deploymentMetricsQuery, type MetricsWindow } from '../../api/deployment.ts'
import { Chart } from '../../ui/data/chart.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatShare, formatShortCount } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { SegmentedControl } from '../../ui/forms/segmented-control.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Figure } from '../../ui/text/figure.tsx'
import { WINDOWS } from './deployment-search.ts'
import { formatNumber } from '../../ui/format/format-number.ts'

type Metrics = Schemas['DeploymentMetrics']

interface MetricsViewProps {
  readonly id: string
  readonly window: MetricsWindow
  readonly onWindow: (window: MetricsWindow) => void
}

const WINDOW_CHOICES = WINDOWS.map((value) => ({ value, label: value }))

/** Load, speed and GPUs of a deployment over time. */
export function MetricsView({ id, window, onWindow }: MetricsViewProps) {
  const metrics = useQuery(deploymentMetricsQuery(id, window))
  return (
    <div className="flex flex-col gap-4">
      <div className="self-start">
        <SegmentedControl label="How far back" value={window} choices={WINDOW_CHOICES} onChange={onWindow} />
      </div>
      {metrics.isPending && <SkeletonRows />}
      {metrics.error && (
        <ErrorPanel
          title="Metrics could not be loaded"
          error={metrics.error}
          onRetry={() => void metrics.refetch()}
        />
      )}
      {metrics.data && (
        <>
          <Totals metrics={metrics.data} />
          <Charts metrics={metrics.data} />
        </>
      )}
    </div>
  )
}

function Totals({ metrics }: { readonly metrics: Metrics }) {
  const load = metrics.gpu?.utilization ?? null
  const memoryGb = metrics.gpu?.memory_used_gb ?? null
  return (
    <Section>
      <div className="grid grid-cols-2 gap-6 md:grid-cols-3 lg:grid-cols-6">
        <Figure
          label="Requests"
          value={formatShortCount(metrics.requests)}
          note={`${metrics.errors} failed, ${metrics.in_flight} in flight`}
        />
        <Figure
          label="Throughput"
          value={formatShortCount(metrics.tokens_per_second)}
          unit="tokens/s"
          note="mean of the whole time, idle too"
        />
        <Figure
          label="Median latency"
          value={durationOf(metrics.latency_ms.p50)}
          note={`95 %: ${durationOf(metrics.latency_ms.p95)}`}
        />
        <Figure
          label="Time to first token"
          value={durationOf(metrics.ttft_ms.p50)}
          note={`95 %: ${durationOf(metrics.ttft_ms.p95)}`}
        />
        <Figure label="GPU load" value={load === null ? 'unknown' : formatShare(load)} />
        <Figure
          label="GPU memory"
          value={memoryGb === null ? 'unknown' : formatNumber(memoryGb, 1)}
          unit={memoryGb === null ? undefined : 'GiB'}
        />
      </div>
    </Section>
  )
}

function Charts({ metrics }: { readonly metrics: Metrics }) {
  const { series } = metrics
  const drawn = useMemo(() => {
    const valuesOf = (
      label: string,
      read: (point: Metrics['series'][number]) => number | null | undefined,
    ) => ({
      label,
      values: series.map((point) => read(point) ?? null),
    })
    return {
      timesSeconds: series.map(({ at }) => Date.parse(at) / 1000),
      requests: [
        valuesOf('Answered', ({ requests, errors }) => requests - errors),
        valuesOf('Failed', ({ errors }) => errors),
      ],
      latency: [
        valuesOf('Latency, median', ({ latency_ms: latency }) => latency.p50),
        valuesOf('Latency, 95 %', ({ latency_ms: latency }) => latency.p95),
        valuesOf('First token, median', ({ ttft_ms: first }) => first.p50),
      ],
      tokens: [
        valuesOf('Prompt', ({ tokens_in: tokens }) => tokens),
        valuesOf('Answer', ({ tokens_out: tokens }) => tokens),
      ],
      load: [valuesOf('GPU load', ({ gpu }) => gpu?.utilization)],
      memory: [valuesOf('GPU memory', ({ gpu }) => gpu?.memory_used_gb)],
    }
  }, [series])
  const { timesSeconds } = drawn
  // As the history and the chat beside them.
  const shared = { timesSeconds, heightPx: 180, zone: 'local' } as const
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Section>
        <Chart
          title="Requests"
          {...shared}
          kind="bars"
          series={drawn.requests}
          formatValue={formatShortCount}
        />
      </Section>
      <Section>
        <Chart title="Latency" {...shared} series={drawn.latency} formatValue={formatDuration} />
      </Section>
      <Section>
        <Chart title="Tokens" {...shared} kind="bars" series={drawn.tokens} formatValue={formatShortCount} />
      </Section>
      <Section>
        <Chart title="GPU load" {...shared} series={drawn.load} formatValue={formatShare} />
      </Section>
      <Section>
        <Chart title="GPU memory in GiB" {...shared} series={drawn.memory} formatValue={formatShortCount} />
      </Section>
    </div>
  )
}

function durationOf(ms: number | null): string {
  return ms === null ? 'none' : formatDuration(ms)
}
