import { buildChatBody, buildRequest } from '../build-request.ts'
import { chooseWindowMs } from '../choose-window.ts'
import { formatCount, formatMicroseconds, formatRatio } from '../format-figure.ts'
import type { ExchangeResult } from '../load/load-job.ts'
import { measureCpu, measureRounds } from '../measure-rounds.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median, medianRange, sum } from '../statistics.ts'
import { compareBilling } from './billing-cost.ts'
import {
  cpuPerRequestUs,
  databaseCpuPerRequestUs,
  differences,
  figuresOf,
  throughputRatios,
} from './request-samples.ts'
import type { CrowdedSample, RequestSamples, Samples } from './request-samples.ts'
import type { BenchSession, MetricRow, Scenario, Verdict } from './scenario.ts'

/** Plain chat completions: requests per second on one core, CPU time of each, and added latency. */
export const requests: Scenario = {
  id: 'requests',
  run: async (session) => {
    const { direct, contestants, options, note } = session
    const everyone = [direct, ...contestants]
    const rates = new Map<string, number>()
    for (const contestant of everyone) rates.set(contestant.id, await warmUp(session, contestant))
    const alone = await measureRounds({
      contestants: everyone,
      rounds: options.rounds * TURNS_PER_ROUND,
      measure: async (contestant) => measureAlone(session, contestant),
      note: (text) => note(`requests, one client: ${text}`),
    })
    const crowded = await measureRounds({
      contestants: everyone,
      rounds: options.rounds * TURNS_PER_ROUND,
      measure: async (contestant) => measureCrowded(session, contestant, rates.get(contestant.id) ?? 0),
      note: (text) => note(`requests, ${CROWD} clients: ${text}`),
    })
    const samples = { alone, crowded }
    noteFailures(samples, note)
    const billing = compareBilling(samples)
    return {
      rows: [...tabulate(samples), ...billing.rows, memoryRow(everyone), failureRow(samples)],
      verdicts: [...judge(samples), ...billing.verdicts],
      samples: { alone: Object.fromEntries(alone), crowded: Object.fromEntries(crowded) },
    }
  },
}

const CROWD = 64
/** The contestant whose answers wait for their charge. */
const CHARGING = 'parkway'
const WARMUP_MS = 150
/**
 * Ratios depend on the crowded samples, and the machine changes every second: many short turns are more exact than few long ones.
 */
const TURNS_PER_ROUND = 3

/**
 * Warms the contestant up and returns its answers per second with the crowd. After five seconds V8 still compiles, on the
 * measured core. A single client and a crowd run different code (batching), so both are warmed up.
 */
async function warmUp({ load, options }: BenchSession, contestant: RunningContestant): Promise<number> {
  const durationMs = options.isQuick ? 750 : 10_000
  const job = { ...jobFor(contestant), durationMs }
  await load.runExchanges({ ...job, warmupMs: 0, concurrency: 1 })
  const result = await load.runExchanges({ ...job, warmupMs: durationMs, concurrency: CROWD })
  await load.runExchanges({ ...job, warmupMs: 0, concurrency: 1 })
  return result.exchangesPerSecond
}

async function measureAlone(
  { load, options: { secondsPerRound } }: BenchSession,
  contestant: RunningContestant,
): Promise<ExchangeResult> {
  const durationMs = (secondsPerRound / TURNS_PER_ROUND) * 500
  return load.runExchanges({ ...jobFor(contestant), warmupMs: WARMUP_MS, concurrency: 1, durationMs })
}

async function measureCrowded(
  { load, options }: BenchSession,
  contestant: RunningContestant,
  exchangesPerSecond: number,
): Promise<CrowdedSample> {
  const secondsPerRound = options.secondsPerRound / TURNS_PER_ROUND
  const durationMs = chooseWindowMs({ secondsPerRound, concurrency: CROWD, exchangesPerSecond })
  const { result, ...cpu } = await measureCpu(contestant, async () =>
    load.runExchanges({ ...jobFor(contestant), warmupMs: WARMUP_MS, concurrency: CROWD, durationMs }),
  )
  return { crowded: result, ...cpu }
}

function jobFor({ port, requestHeaders }: RunningContestant) {
  return {
    port,
    request: buildRequest({ path: '/v1/chat/completions', headers: requestHeaders, body: buildChatBody() }),
  }
}

function tabulate({ alone, crowded }: RequestSamples): MetricRow[] {
  const row = (label: string, cell: (id: string) => string): MetricRow => ({
    label,
    cells: Object.fromEntries([...crowded.keys()].map((id) => [id, cell(id)])),
  })
  const ratio = (to: string) => (id: string) => formatRatio(median(throughputRatios(crowded, id, to)))
  const added =
    <Sample>(samples: Samples<Sample>, figure: (sample: Sample) => number) =>
    (id: string) =>
      id === 'direct'
        ? `(${formatMicroseconds(median(figuresOf(samples, id, figure)))})`
        : formatMicroseconds(addedUs(samples, id, figure))
  return [
    row('requests/s, c=64', (id) =>
      formatCount(median(figuresOf(crowded, id, (s) => s.crowded.exchangesPerSecond))),
    ),
    row('… × bare (median of rounds)', ratio('bare')),
    row('… × floor (median of rounds)', ratio('floor')),
    row('… × Portkey (median of rounds)', ratio('portkey')),
    row('CPU µs a request', (id) => formatCount(median(cpuPerRequestUs(crowded, id)))),
    row('… of its PostgreSQL beside it', (id) =>
      formatUnlessNone(median(databaseCpuPerRequestUs(crowded, id))),
    ),
    row('its core busy, %', (id) => formatCount(100 * median(figuresOf(crowded, id, (s) => s.busyShare)))),
    row('added latency p50, c=1', added(alone, p50Us)),
    row('added latency p99, c=1', added(alone, p99Us)),
    row(
      'added latency p50, c=64',
      added(crowded, (s) => p50Us(s.crowded)),
    ),
    row(
      'added latency p99, c=64',
      added(crowded, (s) => p99Us(s.crowded)),
    ),
  ]
}

const p50Us = ({ latencyP50Us }: ExchangeResult): number => latencyP50Us
const p99Us = ({ latencyP99Us }: ExchangeResult): number => latencyP99Us

function memoryRow(everyone: readonly RunningContestant[]): MetricRow {
  const cell = ({ process }: RunningContestant) => {
    const usage = process.usage()
    if (usage === undefined) return '–'
    const largest = formatCount(usage.rssOfLargestMib)
    return usage.pids.length === 1 ? largest : `${largest} (all ${formatCount(usage.rssMib)})`
  }
  return {
    label: 'RSS after the load, MiB',
    cells: Object.fromEntries(everyone.map((contestant) => [contestant.id, cell(contestant)])),
  }
}

function failureRow(samples: RequestSamples): MetricRow {
  const failures = (id: string) => sum(resultsOf(samples, id).map((result) => result.failures))
  return {
    label: 'failed requests',
    cells: Object.fromEntries([...samples.crowded.keys()].map((id) => [id, formatCount(failures(id))])),
  }
}

/** Reports the first refusal, which explains a misconfiguration better than a count. */
function noteFailures(samples: RequestSamples, note: (text: string) => void): void {
  for (const id of samples.crowded.keys()) {
    const failed = resultsOf(samples, id).find(({ failures }) => failures > 0)
    if (failed !== undefined) note(`requests: ${id} failed with ${failed.firstFailure}`)
  }
}

function resultsOf({ alone, crowded }: RequestSamples, id: string): ExchangeResult[] {
  return [...(alone.get(id) ?? []), ...(crowded.get(id) ?? []).map((sample) => sample.crowded)]
}

function formatUnlessNone(value: number): string {
  return value === 0 ? '–' : formatCount(value)
}

function addedUs<Sample>(samples: Samples<Sample>, id: string, figure: (sample: Sample) => number): number {
  return median(differences(samples, { id, from: 'direct', figure }))
}

/** Judges the gateway with and without billing, if both ran. Both have to meet the targets. */
function judge(samples: RequestSamples): Verdict[] {
  return [CHARGING, 'parkway-free']
    .filter((id) => samples.crowded.has(id))
    .flatMap((id) => judgeOne(samples, id))
}

function judgeOne({ alone, crowded }: RequestSamples, id: string): Verdict[] {
  const verdicts: Verdict[] = []
  const atLeast = (peer: string, title: string, ratioMin: number) => {
    if (!crowded.has(peer)) return
    const ratios = throughputRatios(crowded, id, peer)
    const measured = median(ratios)
    const [least, most] = medianRange(ratios).map(formatRatio)
    const ours = cpuPerRequestUs(crowded, id)
    const cpuRatios = cpuPerRequestUs(crowded, peer).map(
      (theirs, round) => theirs / (ours[round] ?? Number.NaN),
    )
    verdicts.push({
      target: `${id}: at least ${ratioMin} × ${title} requests a second`,
      measured: `${formatRatio(measured)} (95 %: ${least} to ${most}; by CPU a request ${formatRatio(median(cpuRatios))})`,
      isMet: measured >= ratioMin,
    })
  }
  const addsLess = <Sample>(
    concurrency: number,
    samples: Samples<Sample>,
    pick: (sample: Sample) => ExchangeResult,
    isTarget = true,
  ) => {
    if (!samples.has('portkey')) return
    const ours = differences(samples, { id, from: 'direct', figure: (sample) => p99Us(pick(sample)) })
    const theirs = differences(samples, {
      id: 'portkey',
      from: 'direct',
      figure: (sample) => p50Us(pick(sample)),
    })
    const ratios = ours.map((added, turn) => added / (theirs[turn] ?? Number.NaN))
    const [least, most] = medianRange(ratios).map(formatRatio)
    verdicts.push({
      target: `${id}: added p99 ${isTarget ? 'below' : 'beside'} Portkey's added p50 at concurrency ${concurrency}`,
      measured: `${formatMicroseconds(median(ours))} against ${formatMicroseconds(median(theirs))} (${formatRatio(median(ratios))} within a turn; 95 %: ${least} to ${most})`,
      isMet: isTarget ? median(ours) < median(theirs) : null,
    })
  }
  atLeast('portkey', "Portkey's", 8)
  atLeast('bare', "the bare proxy's", 0.7)
  // With a charge the latency includes a durable write, for which a few milliseconds are allowed: docs/decisions/0029.
  addsLess(1, alone, (result) => result, id !== CHARGING)
  addsLess(CROWD, crowded, (sample) => sample.crowded)
  return verdicts
}
