import { buildChatBody, buildRequest } from '../build-request.ts'
import { formatCount } from '../format-figure.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median, medianSlope } from '../statistics.ts'
import type { BenchSession, MetricRow, Scenario, Verdict } from './scenario.ts'

/** Full load for many minutes, including streams: does memory stay constant? */
export const soak: Scenario = {
  id: 'soak',
  run: async (session) => {
    const rows: MetricRow[] = []
    const verdicts: Verdict[] = []
    const samples: Record<string, MemorySample[]> = {}
    for (const contestant of session.contestants) {
      const taken = await loadAndSample(session, contestant)
      samples[contestant.id] = taken
      const growth = judgeGrowth(taken)
      rows.push(...tabulate(contestant, taken, growth))
      if (contestant.id === 'parkway') verdicts.push(growth.verdict)
    }
    return { rows: mergeRows(rows), verdicts, samples }
  },
}

interface MemorySample {
  readonly atSeconds: number
  readonly rssMib: number
  readonly rssOfLargestMib: number
  readonly requests: number
  readonly failures: number
}

const SAMPLE_MS = 5000
const CROWD = 64
/** Every fifth interval uses streams, which keep more state than a plain answer. */
const STREAM_EVERY = 5
const WARMUP_SHARE = 0.2
const WARMUP_SECONDS_MAX = 120
const GROWTH_MIB_MAX = 8
const GROWTH_SHARE_MAX = 0.05

async function loadAndSample(session: BenchSession, contestant: RunningContestant): Promise<MemorySample[]> {
  const { load, options, note } = session
  const count = Math.max(3, Math.round(options.soakMs / SAMPLE_MS))
  const samples: MemorySample[] = []
  const startedAtMs = performance.now()
  for (let index = 0; index < count; index += 1) {
    const isStreamed = index % STREAM_EVERY === STREAM_EVERY - 1
    const body = buildChatBody(isStreamed ? { chunks: 64, chunksPerSecond: 0 } : undefined)
    const result = await load.runExchanges({
      port: contestant.port,
      request: buildRequest({ path: '/v1/chat/completions', headers: contestant.requestHeaders, body }),
      concurrency: CROWD,
      warmupMs: 0,
      durationMs: SAMPLE_MS,
    })
    const usage = contestant.process.usage()
    const sample = {
      atSeconds: (performance.now() - startedAtMs) / 1000,
      rssMib: usage?.rssMib ?? Number.NaN,
      rssOfLargestMib: usage?.rssOfLargestMib ?? Number.NaN,
      requests: result.exchangesWithWarmup,
      failures: result.failures,
    }
    samples.push(sample)
    contestant.process.trimLog()
    note(
      `soak: ${contestant.id} ${formatCount(sample.atSeconds)} s, ${formatCount(sample.rssOfLargestMib)} MiB (all ${formatCount(sample.rssMib)}), ${formatCount(sample.requests / (SAMPLE_MS / 1000))} ${isStreamed ? 'streams' : 'requests'}/s, ${sample.failures} failed`,
    )
  }
  return samples
}

interface Growth {
  readonly slopeMibPerHour: number
  readonly verdict: Verdict
}

/** Flat means: the growth of the fitted line after the warm-up is within the normal variation of the garbage collector. */
function judgeGrowth(samples: readonly MemorySample[]): Growth {
  const lastSeconds = samples.at(-1)?.atSeconds ?? 0
  const warmupSeconds = Math.min(WARMUP_SECONDS_MAX, lastSeconds * WARMUP_SHARE)
  const settled = samples.filter(({ atSeconds }) => atSeconds >= warmupSeconds)
  const slopeMibPerSecond = medianSlope(settled.map(({ atSeconds, rssMib }) => ({ x: atSeconds, y: rssMib })))
  const gainedMib = slopeMibPerSecond * (lastSeconds - warmupSeconds)
  const allowedMib = Math.max(GROWTH_MIB_MAX, GROWTH_SHARE_MAX * median(settled.map(({ rssMib }) => rssMib)))
  return {
    slopeMibPerHour: slopeMibPerSecond * 3600,
    verdict: {
      target: `memory flat over ${formatCount(lastSeconds / 60)} minutes at full load (under ${formatCount(allowedMib)} MiB gained)`,
      measured: `${gainedMib.toFixed(1)} MiB gained after ${formatCount(warmupSeconds)} s of warm-up`,
      isMet: gainedMib <= allowedMib,
    },
  }
}

function tabulate({ id }: RunningContestant, samples: readonly MemorySample[], growth: Growth): MetricRow[] {
  const settled = samples.slice(Math.floor(samples.length * WARMUP_SHARE))
  const memory = settled.map(({ rssMib }) => rssMib)
  const cell = (label: string, text: string): MetricRow => ({ label, cells: { [id]: text } })
  return [
    cell('RSS after warm-up, median MiB', formatCount(median(memory))),
    cell('RSS after warm-up, highest MiB', formatCount(Math.max(...memory))),
    cell('slope, MiB an hour', growth.slopeMibPerHour.toFixed(1)),
    cell('requests', formatCount(samples.reduce((total, { requests }) => total + requests, 0))),
    cell('failed requests', formatCount(samples.reduce((total, { failures }) => total + failures, 0))),
  ]
}

function mergeRows(rows: readonly MetricRow[]): MetricRow[] {
  const byLabel = Map.groupBy(rows, ({ label }) => label)
  return [...byLabel].map(([label, same]) => ({
    label,
    cells: Object.assign({}, ...same.map(({ cells }) => cells)) as Record<string, string>,
  }))
}
