import type { BenchOptions } from '../bench-options.ts'
import type { Contestant } from '../contestants/contestant.ts'
import type { LoadGenerator } from '../load/load-generator.ts'
import type { RunningContestant } from '../running-contestant.ts'

/** One thing to measure. To add one: a file in this folder and a line in `scenarios.ts`. */
export interface Scenario {
  readonly id: string
  /** Contestants this scenario needs beside the usual ones, such as the gateway with one setting changed. */
  readonly extraContestants?: readonly Contestant[]
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

interface ScenarioReport {
  readonly rows: readonly MetricRow[]
  readonly verdicts: readonly Verdict[]
  /** Everything measured, for `--json`. */
  readonly samples: object
}

/** A line of the table: a figure of each contestant, by its id. */
export interface MetricRow {
  readonly label: string
  readonly cells: Readonly<Record<string, string>>
}

export interface Verdict {
  readonly target: string
  readonly measured: string
  readonly isMet: boolean
}
