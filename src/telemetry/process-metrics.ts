import { readdir } from 'node:fs/promises'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { Counter, Gauge, type Registry } from 'prom-client'

const RESOLUTION_MS = 10
const WINDOW_MS_MIN = 5_000
const QUANTILES = [0.5, 0.9, 0.99, 1] as const

/** The process as dashboards know it, by the usual names, and how late its event loop runs. */
export function collectProcessMetrics(registry: Registry): void {
  collectEventLoop(registry)
  collectMemory(registry)
  collectCpu(registry)
  collectDescriptors(registry)
}

function collectEventLoop(registry: Registry): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let isFirst = true
  let windowStartMs = performance.now()
  let lagSeconds = QUANTILES.map(() => 0)
  let utilization = performance.eventLoopUtilization()

  new Gauge({
    name: 'parkway_event_loop_lag_seconds',
    help: 'How late the event loop ran its timers since the previous scrape, by quantile.',
    labelNames: ['quantile'],
    registers: [registry],
    aggregator: 'max',
    collect() {
      // Two scrapers must not empty each other's window.
      if (performance.now() - windowStartMs >= WINDOW_MS_MIN || isFirst) {
        lagSeconds = QUANTILES.map((quantile) => lateSeconds(delay.percentile(quantile * 100)))
        isFirst = false
        windowStartMs = performance.now()
        delay.reset()
      }
      QUANTILES.forEach((quantile, index) => this.set({ quantile: String(quantile) }, lagSeconds[index] ?? 0))
    },
  })
  new Gauge({
    name: 'nodejs_eventloop_utilization',
    help: 'The part of the time since the previous scrape in which the event loop was busy, 0 to 1.',
    registers: [registry],
    aggregator: 'average',
    collect() {
      const now = performance.eventLoopUtilization()
      this.set(performance.eventLoopUtilization(now, utilization).utilization)
      utilization = now
    },
  })
}

// The histogram records the whole interval between two of its ticks, the planned one included.
function lateSeconds(intervalNs: number): number {
  return Number.isFinite(intervalNs) ? Math.max(0, intervalNs / 1e6 - RESOLUTION_MS) / 1e3 : 0
}

function collectMemory(registry: Registry): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss())
  gauge(
    'nodejs_heap_size_total_bytes',
    'Process heap size from Node.js in bytes.',
    () => process.memoryUsage().heapTotal,
  )
  gauge(
    'nodejs_heap_size_used_bytes',
    'Process heap used from Node.js in bytes.',
    () => process.memoryUsage().heapUsed,
  )
  gauge(
    'nodejs_external_memory_bytes',
    'Node.js external memory in bytes.',
    () => process.memoryUsage().external,
  )
}

function collectCpu(registry: Registry): void {
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the process since the Unix epoch in seconds; of the youngest, when there are several.',
    registers: [registry],
    aggregator: 'max',
  }).set(performance.timeOrigin / 1e3)
}

function collectDescriptors(registry: Registry): void {
  if (process.platform !== 'linux') return
  new Gauge({
    name: 'process_open_fds',
    help: 'Number of open file descriptors.',
    registers: [registry],
    async collect() {
      const descriptors = await readdir('/proc/self/fd').catch(() => [])
      this.set(descriptors.length)
    },
  })
}
