import { setTimeout as sleep } from 'node:timers/promises'
import { buildChatBody, buildRequest } from '../build-request.ts'
import { formatCount, formatRatio } from '../format-figure.ts'
import type { ExchangeResult } from '../load/load-job.ts'
import { measureCpu, measureRounds } from '../measure-rounds.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median, sum } from '../statistics.ts'
import type { BenchSession, MetricRow, Scenario, Verdict } from './scenario.ts'

/**
 * Where the CPU time of streams goes: to open and end one, to a chunk of many that come at once, to a chunk of a stream that is
 * open, and to a stream whose client leaves. CPU time of the contestant without its database.
 */
export const streamCosts: Scenario = {
  id: 'stream-costs',
  run: async (session) => {
    const { contestants, options, note } = session
    for (const contestant of contestants) await warmUp(session, contestant)
    const samples = await measureRounds({
      contestants,
      rounds: options.rounds,
      measure: async (contestant) => measure(session, contestant),
      note: (text) => note(`stream costs: ${text}`),
    })
    return { rows: tabulate(samples), verdicts: judge(samples), samples: Object.fromEntries(samples) }
  },
}

/** CPU microseconds. */
interface CostSample {
  readonly complete: number
  readonly single: number
  readonly burst: number
  readonly long: number
  readonly pacedChunk: number
  readonly cut: number
  readonly failures: number
}

type Figure = Exclude<keyof CostSample, 'failures'>
type Samples = ReadonlyMap<string, readonly CostSample[]>

const CROWD = 32
const WARMUP_MS = 100
const BURST_CHUNKS = 16
const LONG_CHUNKS = 128
const PACED_STREAMS = 400
const CHUNKS_PER_SECOND = 50
const RAMP_MS = 400
/** After the last stream is opened, until all of them have sent their first chunks. */
const OPENED_MS = 300
/** The streams end by themselves if a contestant does not notice that its clients left. */
const CHUNKS_BEYOND_WINDOW = 5 * CHUNKS_PER_SECOND
const LATENESS_MS_MAX = 1_000

async function warmUp(session: BenchSession, contestant: RunningContestant): Promise<void> {
  const durationMs = session.options.isQuick ? 500 : 3_000
  for (const chunks of [null, 1, LONG_CHUNKS]) await exchange(session, contestant, { chunks, durationMs })
}

async function measure(session: BenchSession, contestant: RunningContestant): Promise<CostSample> {
  const durationMs = session.options.secondsPerRound * 500
  const costs: number[] = []
  let failures = 0
  for (const chunks of [null, 1, BURST_CHUNKS, LONG_CHUNKS]) {
    const { result, cpuMicroseconds } = await exchange(session, contestant, { chunks, durationMs })
    costs.push(cpuMicroseconds / result.exchangesWithWarmup)
    failures += result.failures
  }
  const [complete = Number.NaN, single = Number.NaN, burst = Number.NaN, long = Number.NaN] = costs
  const paced = await holdStreams(session, contestant)
  return { complete, single, burst, long, ...paced, failures: failures + paced.failures }
}

function exchange(
  { load }: BenchSession,
  contestant: RunningContestant,
  { chunks, durationMs }: { chunks: number | null; durationMs: number },
): Promise<{ result: ExchangeResult; cpuMicroseconds: number }> {
  const stream = chunks === null ? undefined : { chunks, chunksPerSecond: 0 }
  const job = { port: contestant.port, request: chatRequest(contestant, stream), concurrency: CROWD }
  return measureCpu(contestant, async () => load.runExchanges({ ...job, warmupMs: WARMUP_MS, durationMs }))
}

/** Measures the middle of open streams apart from their beginning and from their end, at which the client leaves. */
async function holdStreams(
  { load, options }: BenchSession,
  contestant: RunningContestant,
): Promise<{ pacedChunk: number; cut: number; failures: number }> {
  const windowMs = options.secondsPerRound * 1_000
  const chunks = Math.ceil(((RAMP_MS + windowMs) / 1_000) * CHUNKS_PER_SECOND) + CHUNKS_BEYOND_WINDOW
  const job = {
    port: contestant.port,
    request: chatRequest(contestant, { chunks, chunksPerSecond: CHUNKS_PER_SECOND }),
    streams: PACED_STREAMS,
    paceMs: 1_000 / CHUNKS_PER_SECOND,
    rampMs: RAMP_MS,
    windowMs,
    latenessMsMax: LATENESS_MS_MAX,
  }
  const middle = async (): Promise<number> => {
    await sleep(RAMP_MS + OPENED_MS)
    const before = ownCpuMicroseconds(contestant)
    const startedAtMs = performance.now()
    await sleep(windowMs)
    const chunksInWindow = ((performance.now() - startedAtMs) / 1_000) * CHUNKS_PER_SECOND * PACED_STREAMS
    return (ownCpuMicroseconds(contestant) - before) / chunksInWindow
  }
  const { result, cpuMicroseconds } = await measureCpu(contestant, async () =>
    Promise.all([load.runHeldStreams(job), middle()]),
  )
  const [held, pacedChunk] = result
  const outside = cpuMicroseconds - held.chunksReceived * pacedChunk
  return { pacedChunk, cut: outside / PACED_STREAMS, failures: held.failures }
}

function ownCpuMicroseconds({ process }: RunningContestant): number {
  return process.usage()?.cpuMicroseconds ?? Number.NaN
}

function chatRequest(
  { requestHeaders }: RunningContestant,
  stream: { chunks: number; chunksPerSecond: number } | undefined,
): string {
  return buildRequest({ path: '/v1/chat/completions', headers: requestHeaders, body: buildChatBody(stream) })
}

/** A chunk of many that come at once: what a long stream costs more than one of a single chunk. */
function burstChunk({ single, long }: CostSample): number {
  return (long - single) / (LONG_CHUNKS - 1)
}

function tabulate(samples: Samples): MetricRow[] {
  const row = (label: string, figure: (sample: CostSample) => number, format = formatCount): MetricRow => ({
    label,
    cells: Object.fromEntries([...samples].map(([id, own]) => [id, format(median(own.map(figure)))])),
  })
  return [
    row('CPU µs a complete answer', ({ complete }) => complete),
    row('CPU µs a stream of one chunk', ({ single }) => single),
    row(`CPU µs a stream of ${BURST_CHUNKS} chunks at once`, ({ burst }) => burst),
    row(`CPU µs a stream of ${LONG_CHUNKS} chunks at once`, ({ long }) => long),
    row('CPU µs a chunk in a burst', burstChunk, formatRatio),
    row(`CPU µs a chunk, ${PACED_STREAMS} open streams`, ({ pacedChunk }) => pacedChunk, formatTenths),
    row('CPU µs to open a stream and leave it', ({ cut }) => cut),
    {
      label: 'failed streams',
      cells: Object.fromEntries(
        [...samples].map(([id, own]) => [id, formatCount(sum(own.map(({ failures }) => failures)))]),
      ),
    },
  ]
}

function formatTenths(value: number): string {
  return Number.isFinite(value) ? value.toFixed(1) : '–'
}

const SINGLE_TO_COMPLETE_MAX = 1.25
const SINGLE_TO_FLOOR_MAX = 2
const BURST_CHUNK_US_MAX = 1
const PACED_TO_FLOOR_MAX = 1.05

function judge(samples: Samples): Verdict[] {
  const own = samples.get('parkway')
  if (own === undefined) return []
  const tuned = samples.get('floor')
  const beside = (figure: Figure): number =>
    median(own.map((sample, round) => sample[figure] / (tuned?.[round]?.[figure] ?? Number.NaN)))
  const verdict = (target: string, measured: number, max: number): Verdict => ({
    target,
    measured: formatRatio(measured),
    isMet: Number.isFinite(measured) ? measured <= max : null,
  })
  const singleToComplete = median(own.map(({ single, complete }) => single / complete))
  return [
    verdict(
      `a stream of one chunk at most ${SINGLE_TO_COMPLETE_MAX} × the CPU of a complete answer`,
      singleToComplete,
      SINGLE_TO_COMPLETE_MAX,
    ),
    verdict(
      `a stream of one chunk at most ${SINGLE_TO_FLOOR_MAX} × that of the tuned proxy`,
      beside('single'),
      SINGLE_TO_FLOOR_MAX,
    ),
    verdict(
      `a chunk in a burst at most ${BURST_CHUNK_US_MAX} µs`,
      median(own.map(burstChunk)),
      BURST_CHUNK_US_MAX,
    ),
    verdict(
      `a chunk of an open stream at most ${PACED_TO_FLOOR_MAX} × that of the tuned proxy`,
      beside('pacedChunk'),
      PACED_TO_FLOOR_MAX,
    ),
  ]
}
