import type { Registry } from 'prom-client'
import { createCounterFamily, createGaugeFamily } from './metric-family.ts'

/** Metrics of the store of files. */
export interface MediaMetrics {
  failed(operation: string): void
  changed(isWorking: boolean): void
}

export function createMediaMetrics(registry: Registry): MediaMetrics {
  const failures = createCounterFamily(registry, {
    name: 'parkway_media_store_failures_total',
    help: 'Operations of the store of files that failed, by operation.',
    labelNames: ['operation'],
  })
  const away = createGaugeFamily(registry, {
    name: 'parkway_media_store_failing',
    help: 'Processes whose last operation of the store of files failed.',
    labelNames: [],
  }).series()
  return {
    failed: (operation) => {
      failures.series(operation).value += 1
    },
    changed: (isWorking) => {
      away.value = isWorking ? 0 : 1
    },
  }
}
