import type { Registry } from 'prom-client'
import { createGaugeFamily } from './metric-family.ts'

/** Metrics of tables with partitions by time. */
export interface PartitionMetrics {
  /** Called when the partitions of a table were counted. */
  seen(table: string, missing: number): void
}

export function createPartitionMetrics(registry: Registry): PartitionMetrics {
  const missing = createGaugeFamily(registry, {
    name: 'parkway_partitions_missing',
    help: 'Partitions of the present and the next days or months that are not there.',
    labelNames: ['table'],
    // All processes see the same ones.
    aggregator: 'max',
  })
  return {
    seen: (table, count) => {
      missing.series(table).value = count
    },
  }
}
