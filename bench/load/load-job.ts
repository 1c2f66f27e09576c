/** What the benchmark asks the load generator to do, and what it answers; both cross a process boundary as JSON. */
export type LoadJob = ExchangeJob | HeldStreamsJob | TasksJob

export interface ExchangeJob {
  readonly kind: 'exchanges'
  readonly port: number
  /** The whole request as it goes over the wire. */
  readonly request: string
  /** Digits within the request that count up from one request to the next, so that each comes from another key. */
  readonly rotation?: RequestRotation
  readonly concurrency: number
  /** A status that is no failure here: how soon it comes is part of the figures. */
  readonly refusalStatus?: number
  /** Exchanges that end in this first stretch are not part of the figures. */
  readonly warmupMs: number
  readonly durationMs: number
}

interface RequestRotation {
  /** A text of digits that the request holds once; numbers of the same width take its place. */
  readonly digits: string
  readonly count: number
}

/** What a gateway must have on its books: a charge for each answer, and for what was delivered before it was cut off. */
export interface Traffic {
  /** Complete ones with status 200. */
  readonly answers: number
  /** Requests under way when a connection ended. */
  readonly cutOff: number
  /** Of those, streams of which a token had arrived. */
  readonly cutOffWithin: number
}

export interface ExchangeResult extends Traffic {
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
  /** Answers with the status of a refusal, and how long they took. */
  readonly refusals: number
  readonly refusalP50Us: number
  readonly refusalMaxUs: number
  /** Answers with status 200 that end with an error. */
  readonly brokenAnswers: number
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

export interface HeldStreamsResult extends Traffic {
  readonly chunksExpected: number
  readonly chunksOnTime: number
  /** Chunks of the whole job, the ramp included; what the CPU time of the job is divided by. */
  readonly chunksReceived: number
  readonly failures: number
  readonly latenessP99Ms: number
}

export interface TasksJob {
  readonly kind: 'tasks'
  readonly port: number
  /** Makes a task. */
  readonly request: string
  /** Lines of the requests that follow a task. */
  readonly headers: Readonly<Record<string, string>>
  /** Tasks under way at once: each that ends makes room for the next. */
  readonly concurrency: number
  readonly warmupMs: number
  readonly durationMs: number
}

export interface TasksResult extends Traffic {
  /** Completed after the warm-up; those with the warm-up are the answers. */
  readonly tasks: number
  readonly failures: number
  readonly firstFailure: string | null
  readonly tasksPerSecond: number
  /** From the request to the answer that says that it is completed. */
  readonly durationP50Ms: number
  readonly durationP99Ms: number
}
