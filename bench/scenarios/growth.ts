import { buildChatBody, buildRequest } from '../build-request.ts'
import { formatCount, formatMicroseconds, formatRatio } from '../format-figure.ts'
import { withGatewayDatabase } from '../gateway-database.ts'
import { createGrowthContestant, growthStages } from '../growth/growth-stage.ts'
import type { GrowthStage } from '../growth/growth-stage.ts'
import { KEY_DIGITS, KEY_OF_FIRST_ACCOUNT, seedAccounts } from '../growth/seed-accounts.ts'
import { seedUsage, tidyTables } from '../growth/seed-usage.ts'
import type { ExchangeResult } from '../load/load-job.ts'
import { measureCpu, measureRounds } from '../measure-rounds.ts'
import type { CpuUse } from '../measure-rounds.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median, sum } from '../statistics.ts'
import type { BenchSession, MetricRow, Scenario, Verdict } from './scenario.ts'

/** The gateway with more accounts, more past usage and more processes: does a request cost what it cost before? */
export const growth: Scenario = {
  id: 'growth',
  contestants: growthStages.map(createGrowthContestant),
  run: async (session) => {
    const { contestants, options, note } = session
    const grown = contestants.flatMap((contestant) => {
      const stage = growthStages.find(({ id }) => id === contestant.id)
      return stage === undefined ? [] : [{ contestant, stage }]
    })
    for (const { contestant, stage } of grown) {
      await grow(contestant, stage)
      note(`growth: ${stage.id} is filled`)
    }
    for (const { contestant, stage } of grown) await warmUp(session, contestant, stage)
    const stages = new Map(grown.map(({ stage }) => [stage.id, stage]))
    const samples = await measureRounds({
      contestants,
      rounds: options.rounds,
      measure: async (contestant) => measure(session, contestant, stages.get(contestant.id)),
      note: (text) => note(`growth: ${text}`),
    })
    return {
      rows: tabulate(samples, stages),
      verdicts: judge(samples),
      samples: Object.fromEntries(samples),
      usageRowsBefore: new Map([...stages].map(([id, { usageRows }]) => [id, usageRows])),
    }
  },
}

interface GrowthSample extends CpuUse {
  readonly exchanges: ExchangeResult
}

type Samples = ReadonlyMap<string, readonly GrowthSample[]>

const CROWD = 64
const WARMUP_MS = 200
const WARMUP_RUN_MS = 2000
const WARMUP_RUNS_MIN = 2
const WARMUP_RUNS_MAX = 20
/** How often each process meets each account before it is measured, so that it knows the key and has borrowed. */
const MEETINGS = 3
const BASE = growthStages[0].id
/** Beyond this a cost is not called flat. */
const FLAT_SHARE_MAX = 0.25

async function grow({ ledger }: RunningContestant, { accounts, usageRows }: GrowthStage): Promise<void> {
  if (ledger === undefined) throw new Error('a gateway without a database cannot grow')
  await withGatewayDatabase(ledger.dataDirectory, async (database) => {
    await seedAccounts(database, accounts)
    await seedUsage(database, { rows: usageRows, accounts })
    await tidyTables(database)
  })
}

async function warmUp(
  { load, note }: BenchSession,
  contestant: RunningContestant,
  stage: GrowthStage,
): Promise<void> {
  const needed = MEETINGS * stage.accounts * stage.processes
  let [runs, met, failures] = [0, 0, 0]
  while (runs < WARMUP_RUNS_MAX && (runs < WARMUP_RUNS_MIN || met < needed)) {
    const job = { ...jobFor(contestant, stage), warmupMs: 0, durationMs: WARMUP_RUN_MS }
    const result = await load.runExchanges(job)
    runs += 1
    met += result.answers
    failures += result.failures
    if (result.firstFailure !== null) note(`growth: ${stage.id} fails with ${result.firstFailure}`)
  }
  note(`growth: ${stage.id} is warm after ${formatCount(met)} requests, ${formatCount(failures)} failed`)
}

async function measure(
  { load, options }: BenchSession,
  contestant: RunningContestant,
  stage: GrowthStage | undefined,
): Promise<GrowthSample> {
  const job = {
    ...jobFor(contestant, stage),
    warmupMs: WARMUP_MS,
    durationMs: options.secondsPerRound * 1000,
  }
  const { result, ...cpu } = await measureCpu(contestant, async () => load.runExchanges(job))
  return { exchanges: result, ...cpu }
}

function jobFor({ port }: RunningContestant, stage: GrowthStage | undefined) {
  return {
    port,
    request: buildRequest({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${KEY_OF_FIRST_ACCOUNT}` },
      body: buildChatBody(),
    }),
    rotation: { digits: KEY_DIGITS, count: stage?.accounts ?? 1 },
    concurrency: CROWD,
  }
}

function tabulate(samples: Samples, stages: ReadonlyMap<string, GrowthStage>): MetricRow[] {
  const row = (label: string, cell: (id: string) => string): MetricRow => ({
    label,
    cells: Object.fromEntries([...samples.keys()].map((id) => [id, cell(id)])),
  })
  const ofStage = (figure: (stage: GrowthStage) => number) => (id: string) => {
    const stage = stages.get(id)
    return stage === undefined ? '–' : formatCount(figure(stage))
  }
  const pair = (label: string, figure: (sample: GrowthSample) => number) => [
    row(label, (id) => formatCount(median((samples.get(id) ?? []).map(figure)))),
    row(`… × ${BASE}`, (id) => formatRatio(ratioToBase(samples, id, figure))),
  ]
  return [
    row(
      'accounts',
      ofStage(({ accounts }) => accounts),
    ),
    row(
      'usage rows before the load',
      ofStage(({ usageRows }) => usageRows),
    ),
    row(
      'processes, on one core',
      ofStage(({ processes }) => processes),
    ),
    ...pair('requests/s, c=64', requestsPerSecond),
    ...pair('CPU µs a request', cpuPerRequestUs),
    ...pair('CPU µs a request of PostgreSQL', databaseCpuPerRequestUs),
    row('latency p50, c=64', (id) =>
      formatMicroseconds(median((samples.get(id) ?? []).map(({ exchanges }) => exchanges.latencyP50Us))),
    ),
    row('failed requests', (id) =>
      formatCount(sum((samples.get(id) ?? []).map(({ exchanges }) => exchanges.failures))),
    ),
  ]
}

function judge(samples: Samples): Verdict[] {
  if (!samples.has(BASE)) return []
  const percent = (share: number) => `${share >= 0 ? '+' : '−'}${Math.abs(100 * share).toFixed(0)} %`
  return [...samples.keys()]
    .filter((id) => id !== BASE)
    .map((id) => {
      const gain = (figure: (sample: GrowthSample) => number) => ratioToBase(samples, id, figure) - 1
      const [speed, cost] = [gain(requestsPerSecond), gain(cpuPerRequestUs)]
      return {
        target: `${id}: cost and speed within ${100 * FLAT_SHARE_MAX} % of ${BASE}`,
        measured: `CPU a request ${percent(cost)}, requests a second ${percent(speed)}, CPU of PostgreSQL ${percent(gain(databaseCpuPerRequestUs))}`,
        isMet: cost <= FLAT_SHARE_MAX && speed >= -FLAT_SHARE_MAX,
      }
    })
}

/** Within a round, then the median. */
function ratioToBase(samples: Samples, id: string, figure: (sample: GrowthSample) => number): number {
  const base = (samples.get(BASE) ?? []).map(figure)
  return median((samples.get(id) ?? []).map((sample, round) => figure(sample) / (base[round] ?? Number.NaN)))
}

function requestsPerSecond({ exchanges }: GrowthSample): number {
  return exchanges.exchangesPerSecond
}

function cpuPerRequestUs({ cpuMicroseconds, exchanges }: GrowthSample): number {
  return cpuMicroseconds / exchanges.exchangesWithWarmup
}

function databaseCpuPerRequestUs({ databaseCpuMicroseconds, exchanges }: GrowthSample): number {
  return databaseCpuMicroseconds / exchanges.exchangesWithWarmup
}
