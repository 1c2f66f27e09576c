import type { Registry } from 'prom-client'
import { createHistogramFamily, observe } from './metric-family.ts'

/** Metrics of the stall watchdog. */
export interface StallMetrics {
  /** Called when the event loop was blocked for this time, most likely by this route. */
  stalled(route: string, stallMs: number): void
}

const STALL_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createStallMetrics(registry: Registry): StallMetrics {
  const stalls = createHistogramFamily(registry, {
    name: 'parkway_event_loop_stall_seconds',
    help: 'How long the event loop stood still, each time it did for 50 ms or more, by the route that most likely held it.',
    labelNames: ['route'],
    bounds: STALL_SECONDS,
  })
  return { stalled: (route, stallMs) => observe(stalls.series(route), stallMs / 1e3) }
}
