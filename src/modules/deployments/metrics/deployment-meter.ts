import type { Clock } from '../../../kernel/clock.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Database } from '../../../storage/database.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import { addCounts, countDuration, type DurationCounts } from './duration-counts.ts'
import type { EngineReadings } from './read-engine.ts'
import type { ReadGpus } from './read-gpus.ts'
import { writeMetrics, type MeasuredStep } from './write-metrics.ts'

/** A finished request to a deployment. */
export interface MeasuredRequest {
  readonly durationMs: number
  /** Null if the answer was not streamed, or never began. */
  readonly firstTokenMs: number | null
  readonly tokensIn: number
  readonly tokensOut: number
  readonly isError: boolean
}

/** Counts this process's requests to deployments in memory, and adds the counts to the time series every five seconds. */
export interface DeploymentMeter {
  /** Counts a request as in flight or queued until the returned function is called. */
  begin(deploymentId: string, where: 'in flight' | 'queue'): () => void
  note(deploymentId: string, request: MeasuredRequest): void
  /** Resolves when everything counted so far is in the database. */
  flush(): Promise<void>
  close(): Promise<void>
}

interface MeterOptions {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
  /** Reads the engine's own metrics; null if it reports none. */
  readonly readEngine: (deploymentId: string) => Promise<EngineReadings | null>
  readonly readGpus: ReadGpus
}

interface Gauge {
  count: number
  /** Time of the last update, by the monotonic clock. */
  sinceMs: number
  /** Sum over all requests of the time spent in this state. */
  spentMs: number
}

interface Measured {
  requests: number
  errors: number
  tokensIn: number
  tokensOut: number
  latency: DurationCounts
  firstToken: DurationCounts
  readonly inFlight: Gauge
  readonly queue: Gauge
}

const FLUSH_MS = 5_000
/** Engines that are read concurrently. */
const READS_AT_ONCE_MAX = 16

export function createDeploymentMeter(options: MeterOptions): DeploymentMeter {
  const { database, clock, logger } = options
  const all = new Map<string, Measured>()
  let flushing: Promise<void> = Promise.resolve()

  const measuredOf = (deploymentId: string): Measured => {
    const known = all.get(deploymentId)
    if (known !== undefined) return known
    const measured = { ...nothing(), inFlight: idle(), queue: idle() }
    all.set(deploymentId, measured)
    return measured
  }
  const write = async (): Promise<void> => {
    const nowMs = clock.nowMs()
    const monotonicMs = clock.monotonicMs()
    const steps = [...all].flatMap(([id, measured]) => takeStep(id, measured, monotonicMs) ?? [])
    for (const [id, measured] of all) if (isIdle(measured)) all.delete(id)
    if (steps.length === 0) return
    try {
      const [engines, gpus] = await Promise.all([
        readEngines(steps, options),
        options.readGpus(steps.map(({ deploymentId }) => deploymentId)),
      ])
      await writeMetrics(database, steps, { engines, gpus }, nowMs)
    } catch (error) {
      for (const step of steps) giveBack(measuredOf(step.deploymentId), step)
      throw error
    }
  }
  const flush = (): Promise<void> => {
    flushing = flushing.then(write, write)
    return flushing
  }
  const timer = setInterval(() => {
    flush().catch((error: unknown) =>
      logger.warn({ reason: messageOf(error) }, 'metrics of deployments could not be written'),
    )
  }, FLUSH_MS).unref()

  return {
    begin: (deploymentId, where) => {
      const measured = measuredOf(deploymentId)
      const gauge = where === 'queue' ? measured.queue : measured.inFlight
      move(gauge, 1, clock.monotonicMs())
      return () => move(gauge, -1, clock.monotonicMs())
    },
    note: (deploymentId, { durationMs, firstTokenMs, tokensIn, tokensOut, isError }) => {
      const measured = measuredOf(deploymentId)
      measured.requests += 1
      measured.tokensIn += tokensIn
      measured.tokensOut += tokensOut
      if (isError) measured.errors += 1
      // Failed requests are often fast, and would distort the latency of answers.
      else countDuration(measured.latency, durationMs)
      if (firstTokenMs !== null) countDuration(measured.firstToken, firstTokenMs)
    },
    flush,
    close: async () => {
      clearInterval(timer)
      await flush().catch(() => {})
    },
  }
}

const nothing = () => ({ requests: 0, errors: 0, tokensIn: 0, tokensOut: 0, latency: [], firstToken: [] })
const idle = (): Gauge => ({ count: 0, sinceMs: 0, spentMs: 0 })

function move(gauge: Gauge, change: 1 | 0 | -1, nowMs: number): void {
  gauge.spentMs += gauge.count * (nowMs - gauge.sinceMs)
  gauge.sinceMs = nowMs
  gauge.count += change
}

function isIdle({ inFlight, queue }: Measured): boolean {
  return inFlight.count === 0 && queue.count === 0
}

/** Returns and resets what was measured since the last call; null if there is nothing. */
function takeStep(deploymentId: string, measured: Measured, nowMs: number): MeasuredStep | null {
  move(measured.inFlight, 0, nowMs)
  move(measured.queue, 0, nowMs)
  const { requests, errors, tokensIn, tokensOut, latency, firstToken } = measured
  const inFlightMs = Math.floor(measured.inFlight.spentMs)
  const queueMs = Math.floor(measured.queue.spentMs)
  if (requests === 0 && inFlightMs === 0 && queueMs === 0) return null
  Object.assign(measured, nothing())
  measured.inFlight.spentMs -= inFlightMs
  measured.queue.spentMs -= queueMs
  return { deploymentId, requests, errors, tokensIn, tokensOut, latency, firstToken, inFlightMs, queueMs }
}

/** Adds a step back that could not be written. */
function giveBack(measured: Measured, step: MeasuredStep): void {
  measured.requests += step.requests
  measured.errors += step.errors
  measured.tokensIn += step.tokensIn
  measured.tokensOut += step.tokensOut
  measured.inFlight.spentMs += step.inFlightMs
  measured.queue.spentMs += step.queueMs
  addCounts(measured.latency, step.latency)
  addCounts(measured.firstToken, step.firstToken)
}

async function readEngines(
  steps: readonly MeasuredStep[],
  { readEngine }: MeterOptions,
): Promise<ReadonlyMap<string, EngineReadings>> {
  const readings = new Map<string, EngineReadings>()
  const left = steps.map(({ deploymentId }) => deploymentId)
  const work = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const reading = await readEngine(id)
      if (reading !== null) readings.set(id, reading)
    }
  }
  await Promise.all(Array.from({ length: READS_AT_ONCE_MAX }, work))
  return readings
}
