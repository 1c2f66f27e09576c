import type { OpenLoopFigures, OpenLoopResult } from '../load/load-job.ts'
import type { RunningContestant } from '../running-contestant.ts'
import type { BenchSession } from './scenario.ts'

/** The requests of a measurement, as bytes. */
interface OverloadRequests {
  /** Equal requests of two accounts. */
  readonly first: string
  readonly second: string
  /** A complete answer for the second account. */
  readonly whole: string
  /** A stream of a minute, of the first account. */
  readonly crowd: string
  /** A stream of a third account that begins before the load and ends in it. */
  readonly held: string
  readonly operator: string
}

export interface OverloadSample {
  readonly capacityPerSecond: number
  readonly steps: readonly OverloadStep[]
  /** The second account's part of all useful answers. */
  readonly fairShare: number
  readonly alone: OpenLoopFigures
  readonly beside: OpenLoopFigures
  readonly crowdBegun: number
}

interface OverloadStep {
  readonly factor: number
  readonly seconds: number
  /** Useful answers a second. */
  readonly goodput: number
  readonly flood: OpenLoopFigures
  readonly held: OpenLoopFigures
  readonly operator: OpenLoopFigures
  readonly rssMib: number
  /** CPU time of its process from the begin of the load until it was idle. */
  readonly busyShare: number
}

const FACTORS = [1, 2, 5, 10]
const CLIENTS = 64
const DEADLINE_MS = 5_000
const WARMUP_MS = 3_000
const CONNECTIONS_MAX = 3_000
const HELD_STREAMS = 100
const OPERATOR_PER_SECOND = 5
/** The load begins when the streams that have to finish have begun. */
const HELD_AHEAD_MS = 1_000
const STREAMS = 5_000
const STREAMS_PER_SECOND = 500
const QUIET_PER_SECOND = 20
const SETTLE_MS = 2_000
/** Until the work that a vendor bills to its end has been read, for streams that were cut off. */
const CUT_OFF_MS = 10_000

export async function measureOverload(
  session: BenchSession,
  gateway: RunningContestant,
  requests: OverloadRequests,
): Promise<OverloadSample> {
  const { port } = gateway
  const seconds = session.options.isQuick ? 6 : 12
  const { load } = session
  const closed = { port, request: requests.first, concurrency: CLIENTS }
  await load.runExchanges({ ...closed, warmupMs: 0, durationMs: seconds * 1000 })
  const { exchangesPerSecond: capacity } = await load.runExchanges({
    ...closed,
    warmupMs: 1_000,
    durationMs: seconds * 1000,
  })
  session.note(`overload: ${gateway.id} answers ${Math.round(capacity)} a second`)
  const run = runnerOf(session, gateway)
  const steps: OverloadStep[] = []
  for (const factor of FACTORS)
    steps.push(await measureStep(run, requests, { capacity, factor, seconds, gateway }))
  const [first, second] = await run(seconds, [
    source(requests.first, 5 * capacity),
    source(requests.second, capacity),
  ])
  const fairShare = second.useful / (first.useful + second.useful)
  const [alone] = await run(seconds, [source(requests.whole, QUIET_PER_SECOND)])
  const fillMs = (STREAMS / STREAMS_PER_SECOND) * 1000
  const [beside, crowd] = await run(
    seconds,
    [
      { ...source(requests.whole, QUIET_PER_SECOND), countedFromMs: WARMUP_MS + fillMs },
      // Asks again for every stream that is refused.
      {
        ...source(requests.crowd, STREAMS_PER_SECOND),
        countedFromMs: 0,
        inProgressMax: STREAMS,
        connectionsMax: STREAMS,
      },
    ],
    fillMs,
  )
  await new Promise((resolve) => setTimeout(resolve, CUT_OFF_MS))
  const crowdBegun = crowd.unfinished + crowd.useful + crowd.late
  return { capacityPerSecond: capacity, steps, fairShare, alone, beside, crowdBegun }
}

type Source = Parameters<BenchSession['load']['runOpenLoop']>[0]['sources'][number]
type Run = <const Sources extends readonly Source[]>(
  seconds: number,
  sources: Sources,
  fillMs?: number,
) => Promise<{ [Index in keyof Sources]: OpenLoopFigures }>

function source(request: string, perSecond: number): Source {
  return {
    request,
    perSecond,
    connectionsMax: CONNECTIONS_MAX,
    isCharged: true,
    countedFromMs: WARMUP_MS,
    fromMs: 0,
    untilMs: Number.MAX_SAFE_INTEGER,
    inProgressMax: Number.MAX_SAFE_INTEGER,
  }
}

async function measureStep(
  run: Run,
  requests: OverloadRequests,
  given: { capacity: number; factor: number; seconds: number; gateway: RunningContestant },
): Promise<OverloadStep> {
  const { capacity, factor, seconds, gateway } = given
  const before = gateway.process.usage()?.cpuMicroseconds ?? Number.NaN
  const startedMs = performance.now()
  const [flood, held, operator] = await run(seconds, [
    { ...source(requests.first, factor * capacity), fromMs: HELD_AHEAD_MS },
    { ...source(requests.held, HELD_STREAMS * 2), countedFromMs: 0, untilMs: 500 },
    { ...source(requests.operator, OPERATOR_PER_SECOND), isCharged: false },
  ])
  const after = gateway.process.usage()?.cpuMicroseconds ?? Number.NaN
  const busyShare = (after - before) / 1000 / (performance.now() - startedMs)
  const rssMib = gateway.process.usage()?.rssOfLargestMib ?? Number.NaN
  return { factor, seconds, goodput: flood.useful / seconds, flood, held, operator, rssMib, busyShare }
}

/** Returns a function that offers load for some seconds and waits until the gateway has nothing left to do. */
function runnerOf({ load, note }: BenchSession, { id, port }: RunningContestant): Run {
  return (async (seconds, sources, fillMs = 0) => {
    const result: OpenLoopResult = await load.runOpenLoop({
      port,
      sources,
      deadlineMs: DEADLINE_MS,
      warmupMs: WARMUP_MS + fillMs,
      durationMs: seconds * 1000,
    })
    for (const { firstFailure } of result.sources)
      if (firstFailure !== null) note(`overload: ${id} failed with ${firstFailure}`)
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    return result.sources
  }) as Run
}
