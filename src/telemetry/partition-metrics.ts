import type { Registry } from 'prom-client'
import { createGaugeFamily } from './metric-family.ts'

/** Metrics of tables with partitions by time. */
export interface PartitionMetrics {
  /** Called when the partitions of a table were counted. */
  seen(table: string, missing: number): void
  /** Called when closed months that are not archived were counted. */
  unarchived(table: string, months: number): void
}

export function createPartitionMetrics(registry: Registry): PartitionMetrics {
  const missing = createGaugeFamily(registry, {
    name: 'parkway_partitions_missing',
    help: 'Partitions of the present and the next days or months that are not there.',
    labelNames: ['table'],
    // All processes see the same ones.
    aggregator: 'max',
  })
  const unarchived = createGaugeFamily(registry, {
    name: 'parkway_months_unarchived',
    help: 'Closed months whose rows are in no complete archive.',
    labelNames: ['table'],
    aggregator: 'max',
  })
  return {
    seen: (table, count) => {
      missing.series(table).value = count
    },
    unarchived: (table, count) => {
      unarchived.series(table).value = count
    },
  }
}
