import { buildChatBody, buildRequest } from '../build-request.ts'
import { chooseWindowMs } from '../choose-window.ts'
import { findStreamsHeld } from '../find-streams-held.ts'
import type { StreamsHeld } from '../find-streams-held.ts'
import { formatCount, formatMicroseconds } from '../format-figure.ts'
import type { ExchangeResult, HeldStreamsResult } from '../load/load-job.ts'
import { measureCpu, measureRounds } from '../measure-rounds.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median, sum } from '../statistics.ts'
import type { BenchSession, MetricRow, Scenario } from './scenario.ts'

/** Streamed chat completions: added time to the first token, CPU time per chunk, and streams held by one core. */
export const streams: Scenario = {
  id: 'streams',
  run: async (session) => {
    const { direct, contestants, options, note } = session
    const everyone = [direct, ...contestants]
    const rates = new Map<string, number>()
    for (const contestant of everyone) rates.set(contestant.id, await warmUp(session, contestant))
    const samples = await measureRounds({
      contestants: everyone,
      rounds: Math.max(2, Math.ceil(options.rounds / 2)),
      measure: async (contestant) => measure(session, contestant, rates.get(contestant.id) ?? 0),
      note: (text) => note(`streams: ${text}`),
    })
    const held = new Map<string, StreamsHeld>()
    for (const contestant of everyone) {
      held.set(contestant.id, await searchStreamsHeld(session, contestant))
      note(`streams: ${contestant.id} holds ${held.get(contestant.id)?.streams}`)
    }
    return {
      rows: tabulate(samples, held),
      verdicts: [],
      samples: { rounds: Object.fromEntries(samples), held: Object.fromEntries(held) },
    }
  },
}

interface StreamSample {
  readonly alone: ExchangeResult
  readonly crowded: ExchangeResult
  readonly paced: HeldStreamsResult
  /** Including its database: a stream is charged once, which is little compared with its chunks. */
  readonly cpuMicroseconds: number
}

type Samples = ReadonlyMap<string, readonly StreamSample[]>

const CHUNKS_PER_SECOND = 50
const CHUNKS_OF_SHORT_STREAM = 16
const CROWD = 64
const PACED_STREAMS = 64
const RAMP_MS = 500
const WARMUP_MS = 150
const LATENESS_MS_MAX = 100
/** The stream is longer than the window, but ends by itself if a contestant does not notice that its client left. */
const CHUNKS_BEYOND_WINDOW = 5 * CHUNKS_PER_SECOND

/** Returns the short streams per second of the warm contestant. */
async function warmUp({ load, options }: BenchSession, contestant: RunningContestant): Promise<number> {
  const durationMs = options.isQuick ? 500 : 2000
  const job = { ...shortStreamJob(contestant), concurrency: CROWD, warmupMs: durationMs / 2, durationMs }
  const result = await load.runExchanges(job)
  return result.exchangesPerSecond
}

async function measure(
  { load, options: { secondsPerRound } }: BenchSession,
  contestant: RunningContestant,
  exchangesPerSecond: number,
): Promise<StreamSample> {
  const exchange = { ...shortStreamJob(contestant), warmupMs: WARMUP_MS }
  const alone = await load.runExchanges({ ...exchange, concurrency: 1, durationMs: secondsPerRound * 500 })
  const needs = { secondsPerRound: secondsPerRound / 2, concurrency: CROWD, exchangesPerSecond }
  const { result: crowded } = await measureCpu(contestant, async () =>
    load.runExchanges({ ...exchange, concurrency: CROWD, durationMs: chooseWindowMs(needs) }),
  )
  const held = pacedJob(contestant, {
    streams: PACED_STREAMS,
    windowMs: secondsPerRound * 1000,
    rampMs: RAMP_MS,
  })
  const { result: paced, ...cpu } = await measureCpu(contestant, async () => load.runHeldStreams(held))
  return { alone, crowded, paced, cpuMicroseconds: cpu.cpuMicroseconds + cpu.databaseCpuMicroseconds }
}

async function searchStreamsHeld(session: BenchSession, contestant: RunningContestant): Promise<StreamsHeld> {
  const { heldStreamsMax, isQuick } = session.options
  const windowMs = isQuick ? 1000 : 2000
  return findStreamsHeld({
    streamsMin: isQuick ? 128 : 16,
    streamsMax: heldStreamsMax,
    bisections: isQuick ? 1 : 3,
    tries: isQuick ? 1 : 2,
    attempt: async (count) => {
      const job = pacedJob(contestant, { streams: count, windowMs, rampMs: windowMs / 2 })
      const { result } = await measureCpu(contestant, async () => session.load.runHeldStreams(job))
      return result
    },
  })
}

function shortStreamJob(contestant: RunningContestant) {
  const request = streamRequest(contestant, { chunks: CHUNKS_OF_SHORT_STREAM, chunksPerSecond: 0 })
  return { port: contestant.port, request }
}

function pacedJob(
  contestant: RunningContestant,
  { streams, windowMs, rampMs }: { streams: number; windowMs: number; rampMs: number },
) {
  const chunks = Math.ceil(((windowMs + rampMs) / 1000) * CHUNKS_PER_SECOND) + CHUNKS_BEYOND_WINDOW
  return {
    port: contestant.port,
    request: streamRequest(contestant, { chunks, chunksPerSecond: CHUNKS_PER_SECOND }),
    streams,
    paceMs: 1000 / CHUNKS_PER_SECOND,
    rampMs,
    windowMs,
    latenessMsMax: LATENESS_MS_MAX,
  }
}

function streamRequest(
  { requestHeaders }: RunningContestant,
  stream: { chunks: number; chunksPerSecond: number },
): string {
  return buildRequest({ path: '/v1/chat/completions', headers: requestHeaders, body: buildChatBody(stream) })
}

function tabulate(samples: Samples, held: ReadonlyMap<string, StreamsHeld>): MetricRow[] {
  const row = (label: string, cell: (id: string) => string): MetricRow => ({
    label,
    cells: Object.fromEntries([...samples.keys()].map((id) => [id, cell(id)])),
  })
  const added = (figure: (sample: StreamSample) => number) => (id: string) => {
    const direct = (samples.get('direct') ?? []).map(figure)
    const own = (samples.get(id) ?? []).map(figure)
    if (id === 'direct') return `(${formatMicroseconds(median(own))})`
    return formatMicroseconds(median(own.map((value, round) => value - (direct[round] ?? Number.NaN))))
  }
  return [
    row(
      'added first token p50, c=1',
      added((s) => s.alone.firstByteP50Us),
    ),
    row(
      'added first token p99, c=1',
      added((s) => s.alone.firstByteP99Us),
    ),
    row(
      'added first token p50, c=64',
      added((s) => s.crowded.firstByteP50Us),
    ),
    row(
      'added first token p99, c=64',
      added((s) => s.crowded.firstByteP99Us),
    ),
    row('CPU µs a chunk, 64 streams', (id) => cpuPerChunk(samples.get(id) ?? [])),
    row('streams held at 50 chunks/s', (id) => formatHeld(held, id)),
    row('failed streams', (id) =>
      formatCount(
        sum((samples.get(id) ?? []).map((s) => s.alone.failures + s.crowded.failures + s.paced.failures)),
      ),
    ),
  ]
}

function cpuPerChunk(samples: readonly StreamSample[]): string {
  const spent = sum(samples.map(({ cpuMicroseconds }) => cpuMicroseconds))
  return formatCount(spent / sum(samples.map(({ paced }) => paced.chunksReceived)))
}

/** A contestant that holds as many streams as the mock is limited by the other core, not by its own. */
function formatHeld(held: ReadonlyMap<string, StreamsHeld>, id: string): string {
  const own = held.get(id)
  const direct = held.get('direct')
  if (own === undefined) return '–'
  const isLimitedByHarness =
    own.isLimitReached || (direct !== undefined && own.streams >= 0.9 * direct.streams)
  return `${isLimitedByHarness ? '≥ ' : ''}${formatCount(own.streams)}`
}
