import type { Registry } from 'prom-client'
import { createCounterFamily, createGaugeFamily } from './metric-family.ts'

/** Of answers whose clients left while a vendor billed them. */
export interface DrainMetrics {
  /** So many are being read at this moment. */
  running(count: number): void
  /** One was not read to its end, and what it cost was estimated. */
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
