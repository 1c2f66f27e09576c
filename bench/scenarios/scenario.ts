import type { BenchOptions } from '../bench-options.ts'
import type { Contestant } from '../contestants/contestant.ts'
import type { LoadGenerator } from '../load/load-generator.ts'
import type { RunningContestant } from '../running-contestant.ts'

/** One thing to measure. To add one: a file in this folder and a line in `scenarios.ts`. */
export interface Scenario {
  readonly id: string
  /** Its own contestants instead of the usual ones, such as the gateway in several settings. */
  readonly contestants?: readonly Contestant[]
  run(session: BenchSession): Promise<ScenarioReport>
}

export interface BenchSession {
  /** The mock upstream without a gateway, the base of latencies. */
  readonly direct: RunningContestant
  readonly contestants: readonly RunningContestant[]
  readonly load: LoadGenerator
  readonly options: BenchOptions
  readonly note: (text: string) => void
}

export interface ScenarioReport {
  readonly rows: readonly MetricRow[]
  readonly verdicts: readonly Verdict[]
  /** All samples, for `--json`. */
  readonly samples: object
  /** Usage rows that a contestant had before the load, by its id. */
  readonly usageRowsBefore?: ReadonlyMap<string, number>
}

/** A row of the table: one figure per contestant, by its id. */
export interface MetricRow {
  readonly label: string
  readonly cells: Readonly<Record<string, string>>
}

export interface Verdict {
  readonly target: string
  readonly measured: string
  /** Null if the figure is only compared and has no target. */
  readonly isMet: boolean | null
}
