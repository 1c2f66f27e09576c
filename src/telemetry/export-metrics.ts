import type { Registry } from 'prom-client'
import { createCounterFamily } from './metric-family.ts'

/** Metrics of exports to systems of the operator, of this process. */
export interface ExportMetrics {
  counted(sink: string, outcome: 'sent' | 'refused' | 'missing' | 'skipped', requests: number): void
  failed(sink: string): void
}

export function createExportMetrics(registry: Registry): ExportMetrics {
  const requests = createCounterFamily(registry, {
    name: 'parkway_export_requests_total',
    help: 'Requests that a sink confirmed (sent), refused for ever, or did not get: not in the log any more (missing), waited too long (skipped).',
    labelNames: ['sink', 'outcome'],
  })
  const failures = createCounterFamily(registry, {
    name: 'parkway_export_failures_total',
    help: 'Batches that a sink did not confirm. They are sent again.',
    labelNames: ['sink'],
  })
  return {
    counted: (sink, outcome, count) => {
      requests.series(sink, outcome).value += count
    },
    failed: (sink) => {
      failures.series(sink).value += 1
    },
  }
}
