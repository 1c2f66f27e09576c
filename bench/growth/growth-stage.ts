import { createParkway } from '../contestants/parkway.ts'
import type { Contestant } from '../contestants/contestant.ts'

/** A gateway that has grown in one dimension or in all. */
export interface GrowthStage {
  readonly id: string
  readonly accounts: number
  readonly usageRows: number
  readonly processes: number
}

/** The first stage is the base of the comparison. */
export const growthStages: readonly [GrowthStage, ...GrowthStage[]] = [
  { id: 'accounts-1', accounts: 1, usageRows: 0, processes: 1 },
  { id: 'accounts-100', accounts: 100, usageRows: 0, processes: 1 },
  { id: 'accounts-10000', accounts: 10_000, usageRows: 0, processes: 1 },
  { id: 'rows-1000000', accounts: 1, usageRows: 1_000_000, processes: 1 },
  { id: 'processes-2', accounts: 1, usageRows: 0, processes: 2 },
  { id: 'all-grown', accounts: 10_000, usageRows: 1_000_000, processes: 2 },
]

export function createGrowthContestant({ id, processes }: GrowthStage): Contestant {
  return createParkway({ id, environment: { PARKWAY_PROCESSES: String(processes) } })
}
