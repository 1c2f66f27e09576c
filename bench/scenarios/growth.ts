import { formatCount, formatMicroseconds, formatRatio } from '../format-figure.ts'
import { withGatewayDatabase } from '../gateway-database.ts'
import { createGrowthContestant, growthStages } from '../growth/growth-stage.ts'
import type { GrowthStage } from '../growth/growth-stage.ts'
import { buildRotatingLoad, meetAccounts } from '../growth/meet-accounts.ts'
import { seedAccounts } from '../growth/seed-accounts.ts'
import { seedUsage, tidyTables } from '../growth/seed-usage.ts'
import type { ExchangeResult } from '../load/load-job.ts'
import { measureCpu, measureRounds } from '../measure-rounds.ts'
import type { CpuUse } from '../measure-rounds.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median, sum } from '../statistics.ts'
import type { BenchSession, MetricRow, Scenario, Verdict } from './scenario.ts'

/** The gateway with more accounts, more past usage and more processes: does the cost of a request stay the same? */
export const growth: Scenario = {
  id: 'growth',
  contestants: growthStages.map(createGrowthContestant),
  run: async (session) => {
    const { contestants, options, note } = session
    for (const contestant of contestants) {
      await grow(contestant, stageOf(contestant))
      note(`growth: ${contestant.id} is filled`)
    }
    const strangersCpuUs = new Map<string, number>()
    for (const contestant of contestants) {
      const cpuUs = await warmUp(session, contestant, stageOf(contestant))
      if (cpuUs !== undefined) strangersCpuUs.set(contestant.id, cpuUs)
    }
    const samples = await measureRounds({
      contestants,
      rounds: options.rounds,
      measure: async (contestant) => measure(session, contestant, stageOf(contestant)),
      note: (text) => note(`growth: ${text}`),
    })
    return {
      rows: tabulate(samples, strangersCpuUs),
      verdicts: judge(samples),
      samples: Object.fromEntries(samples),
      usageRowsBefore: new Map(growthStages.map(({ id, usageRows }) => [id, usageRows])),
    }
  },
}

interface GrowthSample extends CpuUse {
  readonly exchanges: ExchangeResult
}

type Samples = ReadonlyMap<string, readonly GrowthSample[]>

const WARMUP_MS = 200
/** Per process: with two processes each gets half of the requests, and needs enough of them to be warm. */
const WARMUP_RUN_MS = 4000
/** Short enough that none of ten thousand accounts is used twice. */
const STRANGERS_MS = 1000
/** Connections are distributed over processes at random, so each process sees nearly every account. */
const MEETINGS_PER_PROCESS = 2
const MEETING_SECONDS_MAX = 60
const MEETING_AGAIN_SECONDS_MAX = 5
const BASE = growthStages[0].id
/** A larger increase of the cost is not considered flat. */
const FLAT_SHARE_MAX = 0.25

function stageOf({ id }: RunningContestant): GrowthStage {
  const stage = growthStages.find((candidate) => candidate.id === id)
  if (stage === undefined) throw new Error(`there is no stage ${id}`)
  return stage
}

async function grow({ ledger }: RunningContestant, { accounts, usageRows }: GrowthStage): Promise<void> {
  if (ledger === undefined) throw new Error('a gateway without a database cannot grow')
  await withGatewayDatabase(ledger.dataDirectory, async (database) => {
    await seedAccounts(database, accounts)
    await seedUsage(database, { rows: usageRows, accounts })
    await tidyTables(database)
  })
}

/** Returns the CPU time of requests from accounts that are new to the gateway, or undefined if there are too few accounts. */
async function warmUp(
  { load, note }: BenchSession,
  contestant: RunningContestant,
  stage: GrowthStage,
): Promise<number | undefined> {
  // First with one account, so that the code is warm before other accounts are used.
  await load.runExchanges({
    ...buildRotatingLoad(contestant, 1),
    warmupMs: 0,
    durationMs: WARMUP_RUN_MS * stage.processes,
  })
  const strangers = {
    ...buildRotatingLoad(contestant, stage.accounts),
    warmupMs: 0,
    durationMs: STRANGERS_MS,
  }
  const { result, cpuMicroseconds, databaseCpuMicroseconds } = await measureCpu(contestant, async () =>
    load.runExchanges(strangers),
  )
  const failure = await meetAccounts(load, contestant, {
    stage,
    times: MEETINGS_PER_PROCESS * stage.processes,
    secondsMax: MEETING_SECONDS_MAX,
  })
  if (failure !== null) note(`growth: ${stage.id} fails with ${failure}`)
  note(`growth: ${stage.id} is warm`)
  if (result.exchangesWithWarmup > stage.accounts) return undefined
  return (cpuMicroseconds + databaseCpuMicroseconds) / result.exchangesWithWarmup
}

async function measure(
  { load, options, note }: BenchSession,
  contestant: RunningContestant,
  stage: GrowthStage,
): Promise<GrowthSample> {
  // The gateway may have dropped its caches while other contestants were measured.
  if (stage.accounts > 1)
    await meetAccounts(load, contestant, { stage, times: 1, secondsMax: MEETING_AGAIN_SECONDS_MAX })
  const { result, ...cpu } = await measureCpu(contestant, async () =>
    load.runExchanges({
      ...buildRotatingLoad(contestant, stage.accounts),
      warmupMs: WARMUP_MS,
      durationMs: options.secondsPerRound * 1000,
    }),
  )
  if (result.firstFailure !== null) note(`growth: ${stage.id} fails with ${result.firstFailure}`)
  return { exchanges: result, ...cpu }
}

function tabulate(samples: Samples, strangersCpuUs: ReadonlyMap<string, number>): MetricRow[] {
  const row = (label: string, cell: (id: string) => string): MetricRow => ({
    label,
    cells: Object.fromEntries([...samples.keys()].map((id) => [id, cell(id)])),
  })
  const stageRow = (label: string, figure: (stage: GrowthStage) => number): MetricRow => ({
    label,
    cells: Object.fromEntries(growthStages.map((stage) => [stage.id, formatCount(figure(stage))])),
  })
  const pair = (label: string, figure: (sample: GrowthSample) => number) => [
    row(label, (id) => formatCount(median((samples.get(id) ?? []).map(figure)))),
    row(`… × ${BASE}`, (id) => formatRatio(ratioToBase(samples, id, figure))),
  ]
  return [
    stageRow('accounts', ({ accounts }) => accounts),
    stageRow('usage rows before the load', ({ usageRows }) => usageRows),
    stageRow('processes, on one core', ({ processes }) => processes),
    ...pair('requests/s, c=64', requestsPerSecond),
    ...pair('CPU µs a request', cpuPerRequestUs),
    ...pair('CPU µs a request of PostgreSQL', databaseCpuPerRequestUs),
    row('both, first request of an account', (id) => formatCount(strangersCpuUs.get(id) ?? Number.NaN)),
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
      const measured = `CPU a request ${percent(cost)}, requests a second ${percent(speed)}, CPU of PostgreSQL ${percent(gain(databaseCpuPerRequestUs))}`
      // The costs of several kinds of growth add up.
      if (isGrownInSeveralWays(id))
        return { target: `${id}: cost and speed beside ${BASE}`, measured, isMet: null }
      return {
        target: `${id}: cost and speed within ${100 * FLAT_SHARE_MAX} % of ${BASE}`,
        measured,
        isMet: cost <= FLAT_SHARE_MAX && speed >= -FLAT_SHARE_MAX,
      }
    })
}

function isGrownInSeveralWays(id: string): boolean {
  const [base] = growthStages
  const stage = growthStages.find((candidate) => candidate.id === id) ?? base
  const ways = [
    stage.accounts !== base.accounts,
    stage.usageRows !== base.usageRows,
    stage.processes !== base.processes,
  ]
  return ways.filter(Boolean).length > 1
}

/** Divides within each round, then takes the median. */
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
