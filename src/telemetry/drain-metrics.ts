import type { Registry } from 'prom-client'
import { createCounterFamily, createGaugeFamily } from './metric-family.ts'

/** Metrics of answers that are still read after their client disconnected, because the vendor bills them. */
export interface DrainMetrics {
  /** The number of such answers being read now. */
  running(count: number): void
  /** Called when such an answer was not read to its end, so that its cost was estimated. */
  abandoned(): void
}

export function createDrainMetrics(registry: Registry): DrainMetrics {
  const labelNames: string[] = []
  const running = createGaugeFamily(registry, {
    name: 'parkway_drains_running',
    help: 'Answers that are read to their usage though their clients left.',
    labelNames,
  }).series()
  const abandoned = createCounterFamily(registry, {
    name: 'parkway_abandoned_answers_total',
    help: 'Answers whose clients left and whose cost was estimated, because they were not read to their end.',
    labelNames,
  }).series()
  return {
    running: (count) => {
      running.value = count
    },
    abandoned: () => {
      abandoned.value += 1
    },
  }
}
