import { buildRequest } from '../build-request.ts'
import { createParkway } from '../contestants/parkway.ts'
import { formatCount } from '../format-figure.ts'
import { withGatewayDatabase } from '../gateway-database.ts'
import type { TasksResult } from '../load/load-job.ts'
import { measureCpu } from '../measure-rounds.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median, sum } from '../statistics.ts'
import { hireWorkers, type WorkerCrew } from '../tasks/worker-crew.ts'
import type { BenchSession, MetricRow, Scenario, Verdict } from './scenario.ts'

const ID = 'parkway-tasks'
const CREWS = [1, 3] as const
/** Concurrent tasks. */
const CROWD = 64
const ROUNDS_MAX = 6
const WARMUP_MS = 500
const WINDOW_MS_MIN = 2_000
const TASKS_PER_SECOND_MIN = 300
const PICKUP_MS_MAX = 20

/** Tasks from request to result, with an upstream that answers at once. */
export const tasks: Scenario = {
  id: 'tasks',
  contestants: [createParkway({ id: ID, environment: {}, flags: ['--role', 'api'] })],
  run: async (session) => {
    const gateway = session.contestants.find(({ id }) => id === ID)
    if (gateway === undefined) return { rows: [], verdicts: [], samples: {} }
    const crew = hireWorkers(gateway, session.direct.port)
    const samples = new Map<number, TaskSample[]>()
    try {
      for (const workers of CREWS) samples.set(workers, await measureCrew(session, gateway, crew, workers))
    } finally {
      await crew.stop()
    }
    return {
      rows: [...samples].flatMap(([workers, taken]) => tabulate(workers, taken)),
      verdicts: [...samples].flatMap(([workers, taken]) => judge(workers, taken)),
      samples: Object.fromEntries(samples),
    }
  },
}

interface TaskSample {
  readonly crowded: TasksResult
  readonly crowdedPickup: PickupTimes
  readonly quiet: TasksResult
  readonly quietPickup: PickupTimes
  /** CPU time per task, including tasks of the warm-up and the drain. */
  readonly gatewayUs: number
  readonly workersUs: number
  readonly databaseUs: number
}

async function measureCrew(
  session: BenchSession,
  gateway: RunningContestant,
  crew: WorkerCrew,
  workers: number,
): Promise<TaskSample[]> {
  const { options, note } = session
  await crew.growTo(workers)
  const taken: TaskSample[] = []
  const rounds = Math.min(options.rounds, ROUNDS_MAX)
  // The first round warms up the compiler and the caches.
  for (let round = 0; round <= rounds; round += 1) {
    gateway.process.moveDatabaseTo(gateway.databaseCore)
    const sample = await measure(session, gateway, crew)
    if (round > 0) taken.push(sample)
    else await analyseTables(gateway)
    const { tasksPerSecond, failures, firstFailure } = sample.crowded
    note(`tasks: workers ${workers}, round ${round} of ${rounds}: ${formatCount(tasksPerSecond)}/s`)
    if (failures > 0) note(`tasks: ${failures} failed, the first with ${firstFailure}`)
  }
  return taken
}

async function measure(
  { load, options }: BenchSession,
  gateway: RunningContestant,
  crew: WorkerCrew,
): Promise<TaskSample> {
  const durationMs = Math.max(WINDOW_MS_MIN, options.secondsPerRound * 1000)
  const job = {
    port: gateway.port,
    headers: gateway.requestHeaders,
    request: buildRequest({
      path: '/v1/images/generations',
      headers: { ...gateway.requestHeaders, prefer: 'respond-async' },
      body: { model: 'gpt-image-1.5', prompt: 'A touring bicycle leaning on a wall.', size: '1024x1024' },
    }),
  }
  const quietFrom = new Date()
  const quiet = await load.runTasks({ ...job, concurrency: 1, warmupMs: 0, durationMs: WINDOW_MS_MIN / 2 })
  const crowdedFrom = new Date()
  const workersBeforeUs = crew.cpuMicroseconds()
  const { result, cpuMicroseconds, databaseCpuMicroseconds } = await measureCpu(gateway, () =>
    load.runTasks({ ...job, concurrency: CROWD, warmupMs: WARMUP_MS, durationMs }),
  )
  return {
    crowded: result,
    crowdedPickup: await readPickupTimes(gateway, crowdedFrom, new Date()),
    quiet,
    quietPickup: await readPickupTimes(gateway, quietFrom, crowdedFrom),
    gatewayUs: cpuMicroseconds / result.answers,
    workersUs: (crew.cpuMicroseconds() - workersBeforeUs) / result.answers,
    databaseUs: databaseCpuMicroseconds / result.answers,
  }
}

/** Analyses the tables now. The server would do it within a minute, and until then its plans assume empty tables. */
async function analyseTables({ ledger }: RunningContestant): Promise<void> {
  if (ledger !== undefined)
    await withGatewayDatabase(ledger.dataDirectory, (database) => database.query('ANALYZE'))
}

/** From the creation of a task until a worker claims it. */
interface PickupTimes {
  readonly p50Ms: number
  readonly p99Ms: number
}

async function readPickupTimes({ ledger }: RunningContestant, from: Date, to: Date): Promise<PickupTimes> {
  if (ledger === undefined) return { p50Ms: Number.NaN, p99Ms: Number.NaN }
  const [row] = await withGatewayDatabase(ledger.dataDirectory, (database) =>
    database.query<{ p50: number | null; p99: number | null }>(
      `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY took_ms) AS p50,
         percentile_cont(0.99) WITHIN GROUP (ORDER BY took_ms) AS p99
       FROM (SELECT extract(epoch FROM started_at - created_at)::float8 * 1000 AS took_ms FROM tasks
         WHERE created_at >= $1 AND created_at < $2) AS pickups`,
      [from, to],
    ),
  )
  return { p50Ms: row?.p50 ?? Number.NaN, p99Ms: row?.p99 ?? Number.NaN }
}

function tabulate(workers: number, taken: readonly TaskSample[]): MetricRow[] {
  const middle = (figure: (sample: TaskSample) => number) => median(taken.map(figure))
  const row = (label: string, text: string): MetricRow => ({
    label: `tasks, ${workers} ${workers === 1 ? 'worker' : 'workers'}: ${label}`,
    cells: { [ID]: text },
  })
  const pair = (one: number, other: number) => `${formatMs(one)} / ${formatMs(other)}`
  return [
    row(`tasks/s, ${CROWD} under way`, formatCount(middle(({ crowded }) => crowded.tasksPerSecond))),
    row(
      '… request to result, p50 / p99',
      pair(
        middle(({ crowded }) => crowded.durationP50Ms),
        middle(({ crowded }) => crowded.durationP99Ms),
      ),
    ),
    row(
      '… pick-up, p50 / p99',
      pair(
        middle(({ crowdedPickup }) => crowdedPickup.p50Ms),
        middle(({ crowdedPickup }) => crowdedPickup.p99Ms),
      ),
    ),
    row(
      'one at a time: pick-up, p50 / p99',
      pair(
        middle(({ quietPickup }) => quietPickup.p50Ms),
        middle(({ quietPickup }) => quietPickup.p99Ms),
      ),
    ),
    row('one at a time: request to result, p50', formatMs(middle(({ quiet }) => quiet.durationP50Ms))),
    row(
      'CPU µs a task: gateway + workers + PostgreSQL',
      [
        middle(({ gatewayUs }) => gatewayUs),
        middle(({ workersUs }) => workersUs),
        middle(({ databaseUs }) => databaseUs),
      ]
        .map(formatCount)
        .join(' + '),
    ),
    row('failed', formatCount(sum(taken.map(({ crowded, quiet }) => crowded.failures + quiet.failures)))),
  ]
}

function judge(workers: number, taken: readonly TaskSample[]): Verdict[] {
  const rate = median(taken.map(({ crowded }) => crowded.tasksPerSecond))
  const pickupMs = median(taken.map(({ quietPickup }) => quietPickup.p50Ms))
  const crowdedMs = median(taken.map(({ crowdedPickup }) => crowdedPickup.p50Ms))
  const crew = workers === 1 ? '1 worker' : `${workers} workers`
  return [
    {
      target: `tasks with ${crew}: at least ${TASKS_PER_SECOND_MIN} a second from request to result`,
      measured: formatCount(rate),
      isMet: rate >= TASKS_PER_SECOND_MIN,
    },
    {
      target: `tasks with ${crew}: picked up within ${PICKUP_MS_MAX} ms at the median`,
      measured: `${formatMs(pickupMs)} (at full load ${formatMs(crowdedMs)})`,
      isMet: pickupMs < PICKUP_MS_MAX,
    },
  ]
}

function formatMs(value: number): string {
  return Number.isFinite(value) ? `${value.toFixed(value < 10 ? 1 : 0)} ms` : '–'
}
