import type { Registry } from 'prom-client'
import { createCounterFamily } from './metric-family.ts'

/** Metrics of the request log. */
export interface RequestLogMetrics {
  /** Called when requests or bodies are left out of the log. */
  dropped(reason: string, count: number): void
}

export function createRequestLogMetrics(registry: Registry): RequestLogMetrics {
  const dropped = createCounterFamily(registry, {
    name: 'parkway_request_log_dropped_total',
    help: 'Failed requests and bodies that are not in the request log.',
    labelNames: ['reason'],
  })
  return {
    dropped: (reason, count) => {
      dropped.series(reason).value += count
    },
  }
}
