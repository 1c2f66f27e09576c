import { readdir } from 'node:fs/promises'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { Counter, Gauge, type Aggregator, type Registry } from 'prom-client'
import { registerQuantiles } from './metric-family.ts'

/** Collects the process metrics under the usual names, and the lag of the event loop. */
export function collectProcessMetrics(registry: Registry): void {
  collectEventLoop(registry)
  const heap = () => process.memoryUsage()
  const gauges: GaugeDescription[] = [
    {
      name: 'process_resident_memory_bytes',
      help: 'Resident memory.',
      read: () => process.memoryUsage.rss(),
    },
    { name: 'nodejs_heap_size_total_bytes', help: 'JavaScript heap.', read: () => heap().heapTotal },
    { name: 'nodejs_heap_size_used_bytes', help: 'JavaScript heap in use.', read: () => heap().heapUsed },
    { name: 'nodejs_external_memory_bytes', help: 'Buffers and the like.', read: () => heap().external },
    {
      name: 'process_start_time_seconds',
      help: 'Start since the Unix epoch; of the youngest, when there are several processes.',
      read: () => performance.timeOrigin / 1e3,
      aggregator: 'max',
    },
  ]
  for (const gauge of gauges) registerGauge(registry, gauge)
  registry.registerMetric(
    new Counter({
      name: 'process_cpu_seconds_total',
      help: 'Processor time of the user and of the system.',
      registers: [],
      collect() {
        const { user, system } = process.cpuUsage()
        this.reset()
        this.inc((user + system) / 1e6)
      },
    }),
  )
  if (process.platform !== 'linux') return
  registerGauge(registry, {
    name: 'process_open_fds',
    help: 'Open file descriptors.',
    read: async () => (await readdir('/proc/self/fd').catch(() => [])).length,
  })
}

interface GaugeDescription {
  readonly name: string
  readonly help: string
  readonly read: () => number | Promise<number>
  readonly aggregator?: Aggregator
}

function registerGauge(registry: Registry, { name, help, read, aggregator = 'sum' }: GaugeDescription): void {
  registry.registerMetric(
    new Gauge({
      name,
      help,
      aggregator,
      registers: [],
      async collect() {
        this.set(await read())
      },
    }),
  )
}

const RESOLUTION_MS = 10
const WINDOW_MS_MIN = 5_000
const QUANTILES = [0.5, 0.9, 0.99, 1] as const

function collectEventLoop(registry: Registry): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let windowStartMs = -Infinity
  let lagSeconds: number[] = []
  registerQuantiles(registry, {
    name: 'parkway_event_loop_lag_seconds',
    help: 'How late the event loop ran since the previous scrape, by quantile.',
    quantiles: QUANTILES,
    read: () => {
      // Keep the window for a minimum time, so that two scrapers do not reset each other's window.
      if (performance.now() - windowStartMs >= WINDOW_MS_MIN) {
        lagSeconds = QUANTILES.map((quantile) => lateSeconds(delay.percentile(quantile * 100)))
        windowStartMs = performance.now()
        delay.reset()
      }
      return lagSeconds
    },
  })

  let before = performance.eventLoopUtilization()
  registerGauge(registry, {
    name: 'nodejs_eventloop_utilization',
    help: 'The part of the time since the previous scrape in which the event loop was busy, 0 to 1.',
    aggregator: 'average',
    read: () => {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, before)
      before = now
      return utilization
    },
  })
}

// The histogram records the whole interval between two ticks, including the planned resolution.
function lateSeconds(intervalNs: number): number {
  return Number.isFinite(intervalNs) ? Math.max(0, intervalNs / 1e6 - RESOLUTION_MS) / 1e3 : 0
}
