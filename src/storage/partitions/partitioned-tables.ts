import type { Step } from './step.ts'

/** A table whose rows are in partitions by the time in their ids, which are UUIDv7. Its primary key contains `id`. */
export interface PartitionedTable {
  readonly name: string
  readonly step: Step
  /** Partitions that are made before their time comes. */
  readonly ahead: number
  /** Whether it is moved only when no process of the release before runs. */
  readonly waitsForOlderProcesses?: boolean
}

export const PARTITIONED_TABLES: readonly PartitionedTable[] = [
  { name: 'usage_records', step: 'month', ahead: 2 },
  { name: 'failed_requests', step: 'day', ahead: 2, waitsForOlderProcesses: true },
]
