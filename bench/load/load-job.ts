/** Jobs of the load generator and their results. Both cross a process boundary as JSON. */
export type LoadJob = ExchangeJob | HeldStreamsJob | TasksJob | OpenLoopJob

export interface ExchangeJob {
  readonly kind: 'exchanges'
  readonly port: number
  /** The bytes of the whole request. */
  readonly request: string
  /** Digits in the request that count up with each request, so that each uses another key. */
  readonly rotation?: RequestRotation
  readonly concurrency: number
  /** A status that is not a failure in this job. Its latency is reported. */
  readonly refusalStatus?: number
  /** Exchanges that end in this time are not counted. */
  readonly warmupMs: number
  readonly durationMs: number
}

interface RequestRotation {
  /** Digits that occur once in the request. They are replaced by numbers of the same width. */
  readonly digits: string
  readonly count: number
}

/** What a gateway must have in its ledger: a charge for each answer, and for what was delivered before a cut-off. */
export interface Traffic {
  /** Complete answers with status 200. */
  readonly answers: number
  /** Requests in progress when a connection ended. */
  readonly cutOff: number
  /** Of those, streams that had delivered a token. */
  readonly cutOffWithin: number
}

export interface ExchangeResult extends Traffic {
  /** Answers counted after the warm-up. The CPU time of the job is divided by `exchangesWithWarmup`. */
  readonly exchanges: number
  readonly exchangesWithWarmup: number
  readonly failures: number
  readonly firstFailure: string | null
  readonly exchangesPerSecond: number
  readonly latencyP50Us: number
  readonly latencyP99Us: number
  readonly firstByteP50Us: number
  readonly firstByteP99Us: number
  /** Answers with the refusal status, and their latency. */
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
  /** Connections are opened evenly over this time, so that opening them is not part of the measurement. */
  readonly rampMs: number
  readonly windowMs: number
  readonly latenessMsMax: number
}

export interface HeldStreamsResult extends Traffic {
  readonly chunksExpected: number
  readonly chunksOnTime: number
  /** Chunks of the whole job, including the ramp. The CPU time of the job is divided by this. */
  readonly chunksReceived: number
  readonly failures: number
  readonly latenessP99Ms: number
}

export interface TasksJob {
  readonly kind: 'tasks'
  readonly port: number
  /** The request that creates a task. */
  readonly request: string
  /** Headers of the requests that poll a task. */
  readonly headers: Readonly<Record<string, string>>
  /** Concurrent tasks. Each task that ends is replaced by a new one. */
  readonly concurrency: number
  readonly warmupMs: number
  readonly durationMs: number
}

export interface TasksResult extends Traffic {
  /** Tasks completed after the warm-up. `answers` includes the warm-up. */
  readonly tasks: number
  readonly failures: number
  readonly firstFailure: string | null
  readonly tasksPerSecond: number
  /** From the request to the answer that reports completion. */
  readonly durationP50Ms: number
  readonly durationP99Ms: number
}

/** Requests that are sent when they are due, whether or not earlier ones have been answered. */
export interface OpenLoopJob {
  readonly kind: 'open-loop'
  readonly port: number
  readonly sources: readonly OpenLoopSource[]
  /** A later answer is of no use to its client. */
  readonly deadlineMs: number
  readonly warmupMs: number
  readonly durationMs: number
}

/** One client, with connections of its own. */
interface OpenLoopSource {
  readonly request: string
  /** What is due while all are in use is not sent, and counted. */
  readonly connectionsMax: number
  /** Whether an answer is charged, so that it counts as traffic. */
  readonly isCharged: boolean
  /** Requests that are due earlier are not counted. */
  readonly countedFromMs: number
  readonly perSecond: number
  /** When its first and its last request is due, since the start of the job. */
  readonly fromMs: number
  readonly untilMs: number
  /** What is due while so many are in progress is left out, and not counted. */
  readonly inProgressMax: number
}

export interface OpenLoopResult extends Traffic {
  /** In the order of the sources. */
  readonly sources: readonly OpenLoopFigures[]
}

/** What became of the requests of one source that are counted. Times count from when a request was due. */
export interface OpenLoopFigures {
  readonly due: number
  /** Not sent, because no connection was free. */
  readonly unsent: number
  /** Whole answers with status 200 within the deadline. */
  readonly useful: number
  /** Whole answers with status 200 after it. */
  readonly late: number
  /** Answers with status 503, and those of them that say when to come again. */
  readonly refused: number
  readonly refusedWithPause: number
  /** Everything else: other statuses, lost connections, answers that end with an error. */
  readonly failures: number
  readonly firstFailure: string | null
  /** In progress when the job ended. */
  readonly unfinished: number
  readonly latencyP50Ms: number
  readonly latencyP99Ms: number
  readonly refusalP50Ms: number
  readonly refusalP99Ms: number
}
