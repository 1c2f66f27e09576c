/** What the benchmark asks the load generator to do, and what it answers; both cross a process boundary as JSON. */
export type LoadJob = ExchangeJob | HeldStreamsJob

export interface ExchangeJob {
  readonly kind: 'exchanges'
  readonly port: number
  /** The whole request as it goes over the wire. */
  readonly request: string
  readonly concurrency: number
  /** Exchanges that end in this first stretch are not part of the figures. */
  readonly warmupMs: number
  readonly durationMs: number
}

export interface ExchangeResult {
  /** Answers counted after the warm-up; `exchangesWithWarmup` is what the CPU time of the whole job is divided by. */
  readonly exchanges: number
  readonly exchangesWithWarmup: number
  readonly failures: number
  readonly firstFailure: string | null
  readonly exchangesPerSecond: number
  readonly latencyP50Us: number
  readonly latencyP99Us: number
  readonly firstByteP50Us: number
  readonly firstByteP99Us: number
}

export interface HeldStreamsJob {
  readonly kind: 'held-streams'
  readonly port: number
  readonly request: string
  readonly streams: number
  readonly paceMs: number
  /** Connections are opened evenly over this time, so that opening them is not what is measured. */
  readonly rampMs: number
  readonly windowMs: number
  readonly latenessMsMax: number
}

export interface HeldStreamsResult {
  readonly chunksExpected: number
  readonly chunksOnTime: number
  /** Chunks of the whole job, the ramp included; what the CPU time of the job is divided by. */
  readonly chunksReceived: number
  readonly failures: number
  readonly latenessP99Ms: number
}
