import type { BenchOptions } from '../bench-options.ts'
import type { Contestant } from '../contestants/contestant.ts'
import type { LoadGenerator } from '../load/load-generator.ts'
import type { RunningContestant } from '../running-contestant.ts'

/** One thing to measure. To add one: a file in this folder and a line in `scenarios.ts`. */
export interface Scenario {
  readonly id: string
  /** What it measures instead of the usual contestants, such as the gateway in several settings. */
  readonly contestants?: readonly Contestant[]
  run(session: BenchSession): Promise<ScenarioReport>
}

export interface BenchSession {
  /** The mock upstream without anything before it; what latencies are counted from. */
  readonly direct: RunningContestant
  readonly contestants: readonly RunningContestant[]
  readonly load: LoadGenerator
  readonly options: BenchOptions
  readonly note: (text: string) => void
}

export interface ScenarioReport {
  readonly rows: readonly MetricRow[]
  readonly verdicts: readonly Verdict[]
  /** Everything measured, for `--json`. */
  readonly samples: object
  /** Usage that a contestant was given before the load, by its id. */
  readonly usageRowsBefore?: ReadonlyMap<string, number>
}

/** A line of the table: a figure of each contestant, by its id. */
export interface MetricRow {
  readonly label: string
  readonly cells: Readonly<Record<string, string>>
}

export interface Verdict {
  readonly target: string
  readonly measured: string
  /** Null where it is no target, but is compared with one. */
  readonly isMet: boolean | null
}
