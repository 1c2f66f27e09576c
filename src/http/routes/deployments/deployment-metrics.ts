import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import {
  METRIC_WINDOWS,
  type DeploymentMetrics,
  type Deployments,
  type MetricPoint,
  type Percentiles,
} from '../../../modules/deployments/deployments.ts'
import { orNull } from '../../../wires/nullable.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const STEP_SECONDS_MAX = 86_400

const Params = Type.Object({ id: Type.String({ description: 'The id of a deployment.' }) })
const MetricsQuery = Type.Object({
  window: Type.Optional(
    Type.Enum([...METRIC_WINDOWS], {
      default: '1h',
      description: 'The time window of the figures. The default is one hour.',
    }),
  ),
  step: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: STEP_SECONDS_MAX,
      description:
        'Length of a point of the series in seconds. It must divide the window into at most 300 points.',
    }),
  ),
})

const Milliseconds = Type.Object(
  {
    p50: orNull(Type.Number(), 'The median.'),
    p95: orNull(Type.Number(), 'The 95th percentile.'),
    p99: orNull(Type.Number({ description: '99 of 100 requests were not slower.' })),
  },
  {
    title: 'Percentiles',
    description:
      'In milliseconds. Durations from 1 ms to 70 minutes are within 10 % of the exact value. `null` without requests.',
  },
)
const FIGURES = {
  requests: Type.Integer({ description: 'Finished requests.' }),
  errors: Type.Integer({ description: 'Finished requests that failed.' }),
  tokens_in: Type.Integer({ description: 'Input tokens.' }),
  tokens_out: Type.Integer({ description: 'Output tokens.' }),
  latency_ms: Milliseconds,
  ttft_ms: Milliseconds,
}
const ENGINE_NOTE = 'Metrics that the engine reports. `null` if it reports none.'
const Engine = Type.Object(
  {
    requests_running: orNull(Type.Number({ description: 'Requests that it is processing.' })),
    requests_waiting: orNull(Type.Number({ description: 'Requests in its own queue.' })),
    cache_usage: orNull(Type.Number({ description: 'The used part of its KV cache, from 0 to 1.' })),
  },
  { title: 'EngineReadings' },
)
const GPU_NOTE =
  'The GPUs of the deployment, measured by their driver. `null` if it cannot measure them or none is bound.'
const Gpu = Type.Object(
  {
    utilization: orNull(
      Type.Number({
        description: 'The part of the time in which they were busy, from 0 to 1. An average over them.',
      }),
    ),
    memory_used_gb: orNull(
      Type.Number({ description: 'The used memory of all of them, in units of 1024³ bytes.' }),
    ),
  },
  { title: 'GpuSample' },
)

const MetricsAnswer = Type.Object(
  {
    deployment_id: Type.String({ format: 'uuid', description: 'The id of the deployment.' }),
    window: Type.Enum([...METRIC_WINDOWS], { description: 'The time window of the figures.' }),
    step_seconds: Type.Integer({ description: 'The length of a point of the series in seconds.' }),
    in_flight: Type.Integer({ description: 'Requests in flight now, in all processes.' }),
    ...FIGURES,
    tokens_per_second: Type.Number({ description: 'Output tokens per second, averaged over the window.' }),
    requests_per_minute: Type.Number({ description: 'Averaged over the window.' }),
    queue_wait_ms: orNull(Type.Number({ description: 'Average time that a request waited for a slot.' })),
    engine: Type.Union([Engine, Type.Null()], { description: ENGINE_NOTE }),
    gpu: Type.Union([Gpu, Type.Null()], { description: GPU_NOTE }),
    series: Type.Array(
      Type.Object({
        at: Type.String({ format: 'date-time', description: 'The start of the step.' }),
        ...FIGURES,
        in_flight: Type.Number({ description: 'Average number of requests in flight.' }),
        queued: Type.Number({ description: 'Average number of requests in the queue.' }),
        engine: Type.Union([Engine, Type.Null()], { description: ENGINE_NOTE }),
        gpu: Type.Union([Gpu, Type.Null()], { description: 'The last sample of the step.' }),
      }),
      { description: 'Oldest first, without gaps. The last step is not complete.' },
    ),
  },
  { title: 'DeploymentMetrics' },
)

/** Routes for the throughput and latency of a deployment. */
export const deploymentMetricRoutes = ({
  deployments,
}: {
  deployments: Pick<Deployments, 'readMetrics'>
}): Route[] => [
  defineRoute({
    tag: 'Deployments',
    access: inProject('deployments.read'),
    method: 'GET',
    path: '/v1/deployments/:id/metrics',
    summary: 'Read throughput and latency of a deployment',
    params: Params,
    query: MetricsQuery,
    responses: {
      200: { description: 'Measured at the gateway, over all processes.', schema: MetricsAnswer },
    },
    handle: async ({ caller, params, query }) => {
      const range = { window: query.window ?? '1h', stepSeconds: query.step ?? null }
      return toMetricsAnswer(await deployments.readMetrics(caller, params.id, range))
    },
  }),
]

function toMetricsAnswer(metrics: DeploymentMetrics): Static<typeof MetricsAnswer> {
  const { engine, gpu } = metrics
  return {
    deployment_id: metrics.deploymentId,
    window: metrics.window,
    step_seconds: metrics.stepSeconds,
    in_flight: metrics.inFlight,
    ...toFigures(metrics),
    tokens_per_second: metrics.tokensPerSecond,
    requests_per_minute: metrics.requestsPerMinute,
    queue_wait_ms: metrics.queueWaitMs,
    engine:
      engine === null
        ? null
        : {
            requests_running: engine.running,
            requests_waiting: engine.waiting,
            cache_usage: engine.cacheUsage,
          },
    gpu: toGpu(gpu?.utilization ?? null, gpu?.memoryUsedGb ?? null),
    series: metrics.points.map((point) => ({
      at: toTimestamp(point.atMs),
      ...toFigures(point),
      in_flight: point.inFlight,
      queued: point.queued,
      engine: toPointEngine(point),
      gpu: toGpu(point.gpuUtilization, point.gpuMemoryUsedGb),
    })),
  }
}

interface Figures {
  readonly requests: number
  readonly errors: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly latencyMs: Percentiles
  readonly firstTokenMs: Percentiles
}

function toFigures({ requests, errors, tokensIn, tokensOut, latencyMs, firstTokenMs }: Figures) {
  return {
    requests,
    errors,
    tokens_in: tokensIn,
    tokens_out: tokensOut,
    latency_ms: latencyMs,
    ttft_ms: firstTokenMs,
  }
}

function toPointEngine(point: MetricPoint): Static<typeof Engine> | null {
  const { engineRunning: running, engineWaiting: waiting, engineCacheUsage: usage } = point
  if (running === null && waiting === null && usage === null) return null
  return { requests_running: running, requests_waiting: waiting, cache_usage: usage }
}

function toGpu(utilization: number | null, memoryUsedGb: number | null): Static<typeof Gpu> | null {
  if (utilization === null && memoryUsedGb === null) return null
  return { utilization: round(utilization), memory_used_gb: round(memoryUsedGb) }
}

function round(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000
}
