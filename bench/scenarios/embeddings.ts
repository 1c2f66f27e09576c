import { buildEmbeddingBody, buildRequest } from '../build-request.ts'
import { chooseWindowMs } from '../choose-window.ts'
import { formatCount, formatRatio } from '../format-figure.ts'
import { measureCpu, measureRounds } from '../measure-rounds.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median, sum } from '../statistics.ts'
import { cpuPerRequestUs, figuresOf, throughputRatios } from './request-samples.ts'
import type { CrowdedSample, CrowdedSamples } from './request-samples.ts'
import type { BenchSession, MetricRow, Scenario, ScenarioReport, Verdict } from './scenario.ts'

/** Embeddings in both encodings: answers of tens of kilobytes that should be parsed at most once. */
export const embeddings: Scenario = {
  id: 'embeddings',
  run: async (session) => {
    const reports: ScenarioReport[] = []
    for (const encoding of ['base64', 'float'] as const) reports.push(await runEncoding(session, encoding))
    return {
      rows: reports.flatMap(({ rows }) => rows),
      verdicts: reports.flatMap(({ verdicts }) => verdicts),
      samples: reports.map(({ samples }) => samples),
    }
  },
}

type Encoding = 'float' | 'base64'

const CROWD = 64
const WARMUP_MS = 150
const RATIO_MIN = 0.7
/** Started with a list of models that has no embedding model. */
const WITHOUT_EMBEDDINGS = new Set(['litellm'])

async function runEncoding(session: BenchSession, encoding: Encoding): Promise<ScenarioReport> {
  const { direct, contestants, options, note } = session
  const everyone = [direct, ...contestants.filter(({ id }) => !WITHOUT_EMBEDDINGS.has(id))]
  const rates = new Map<string, number>()
  for (const contestant of everyone)
    rates.set(contestant.id, await warmUp(session, jobFor(contestant, encoding)))
  const samples = await measureRounds({
    contestants: everyone,
    rounds: options.rounds,
    measure: (contestant) => measure(session, contestant, encoding, rates.get(contestant.id) ?? 0),
    note: (text) => note(`embeddings as ${encoding}: ${text}`),
  })
  for (const [id, taken] of samples) {
    const failed = taken.find(({ crowded }) => crowded.failures > 0)
    if (failed) note(`embeddings: ${id} failed with ${failed.crowded.firstFailure}`)
  }
  return {
    rows: tabulate(samples, encoding),
    verdicts: judge(samples, encoding),
    samples: { encoding, ...Object.fromEntries(samples) },
  }
}

function jobFor({ port, requestHeaders }: RunningContestant, encoding: Encoding) {
  const request = buildRequest({
    path: '/v1/embeddings',
    headers: requestHeaders,
    body: buildEmbeddingBody(encoding),
  })
  return { port, request, concurrency: CROWD }
}

/** Returns the answers per second at the end of the warm-up. */
async function warmUp({ load, options }: BenchSession, job: ReturnType<typeof jobFor>): Promise<number> {
  const halfMs = options.isQuick || options.rounds === 1 ? 750 : 5_000
  const result = await load.runExchanges({ ...job, warmupMs: halfMs, durationMs: halfMs })
  return result.exchangesPerSecond
}

async function measure(
  { load, options: { secondsPerRound } }: BenchSession,
  contestant: RunningContestant,
  encoding: Encoding,
  exchangesPerSecond: number,
): Promise<CrowdedSample> {
  const durationMs = chooseWindowMs({ secondsPerRound, concurrency: CROWD, exchangesPerSecond })
  const { result, ...cpu } = await measureCpu(contestant, async () =>
    load.runExchanges({ ...jobFor(contestant, encoding), warmupMs: WARMUP_MS, durationMs }),
  )
  return { crowded: result, ...cpu }
}

function tabulate(samples: CrowdedSamples, encoding: Encoding): MetricRow[] {
  const row = (label: string, cell: (id: string) => string): MetricRow => ({
    label: `embeddings, ${encoding}: ${label}`,
    cells: Object.fromEntries([...samples.keys()].map((id) => [id, cell(id)])),
  })
  return [
    row('requests/s, c=64', (id) =>
      formatCount(median(figuresOf(samples, id, ({ crowded }) => crowded.exchangesPerSecond))),
    ),
    row('… × bare (median of rounds)', (id) => formatRatio(median(throughputRatios(samples, id, 'bare')))),
    row('CPU µs a request', (id) => formatCount(median(cpuPerRequestUs(samples, id)))),
    row('failed requests', (id) =>
      formatCount(sum(figuresOf(samples, id, ({ crowded }) => crowded.failures))),
    ),
  ]
}

function judge(samples: CrowdedSamples, encoding: Encoding): Verdict[] {
  if (!samples.has('parkway') || !samples.has('bare')) return []
  const measured = median(throughputRatios(samples, 'parkway', 'bare'))
  const ours = cpuPerRequestUs(samples, 'parkway')
  const cpuRatios = cpuPerRequestUs(samples, 'bare').map(
    (theirs, round) => theirs / (ours[round] ?? Number.NaN),
  )
  return [
    {
      target: `embeddings as ${encoding}: at least ${RATIO_MIN} × the bare proxy's requests a second`,
      measured: `${formatRatio(measured)} (by CPU a request ${formatRatio(median(cpuRatios))})`,
      isMet: measured >= RATIO_MIN,
    },
  ]
}
