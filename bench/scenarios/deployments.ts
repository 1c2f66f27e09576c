import { setTimeout as sleep } from 'node:timers/promises'
import { buildChatBody, buildRequest } from '../build-request.ts'
import { createParkway } from '../contestants/parkway.ts'
import { forgetDeployments, seedDeployments, seedEngine } from '../deployments/seed-deployments.ts'
import { formatCount, formatRatio } from '../format-figure.ts'
import { withGatewayDatabase } from '../gateway-database.ts'
import { seedAccounts } from '../growth/seed-accounts.ts'
import { measureCpu } from '../measure-rounds.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median, sum } from '../statistics.ts'
import { measureCrowds } from './measure-crowds.ts'
import { cpuPerRequestUs, figuresOf } from './request-samples.ts'
import type { BenchSession, MetricRow, Scenario, ScenarioReport } from './scenario.ts'

const CHATTING = 'byom'
const RECONCILING = 'reconciler'

/** Deployments: what a chat with one costs beside a model of the catalog, and what it costs to look after many of them. */
export const deployments: Scenario = {
  id: 'deployments',
  contestants: [
    createParkway({
      id: CHATTING,
      environment: {
        PARKWAY_GPU_DRIVER: 'local',
        PARKWAY_LOCAL_GPU: JSON.stringify({ command: ['true'], tiers: { cpu_local: {} } }),
      },
    }),
    createParkway({ id: RECONCILING, environment: { PARKWAY_GPU_DRIVER: 'sandbox' } }),
  ],
  run: async (session) => {
    const find = (name: string) => session.contestants.find(({ id }) => id === name)
    const [chatting, reconciling] = [find(CHATTING), find(RECONCILING)]
    const reports: ScenarioReport[] = []
    if (reconciling !== undefined) reports.push(await measureReconciler(session, reconciling))
    if (chatting !== undefined)
      for (const isStream of [false, true]) reports.push(await measureChat(session, chatting, isStream))
    return {
      rows: reports.flatMap(({ rows }) => rows),
      verdicts: reports.flatMap(({ verdicts }) => verdicts),
      samples: reports.map(({ samples }) => samples),
      usageRowsBefore: new Map(reports.flatMap(({ usageRowsBefore }) => [...(usageRowsBefore ?? [])])),
    }
  },
}

const DEPLOYMENTS = 1_000
const ACCOUNTS = 200
const CORE_SHARE_MAX = 0.05
/** Until every deployment has been looked at and charged once. */
const SETTLING_MS = 130_000

async function measureReconciler(
  { options, note }: BenchSession,
  contestant: RunningContestant,
): Promise<ScenarioReport> {
  const windowMs = options.isQuick ? 30_000 : 120_000
  const rest = async () => {
    const { cpuMicroseconds, databaseCpuMicroseconds } = await measureCpu(contestant, () => sleep(windowMs))
    return { own: cpuMicroseconds / windowMs / 1000, database: databaseCpuMicroseconds / windowMs / 1000 }
  }
  const before = await rest()
  await withLedgerDatabase(contestant, async (database) => {
    await seedAccounts(database, ACCOUNTS)
    await seedDeployments(database, { deployments: DEPLOYMENTS, accounts: ACCOUNTS })
  })
  note(`deployments: ${DEPLOYMENTS} run`)
  await sleep(SETTLING_MS)
  const after = await rest()
  const usageRows = await withLedgerDatabase(contestant, async (connection) => {
    // Repeated, because a look of the reconciler that runs during the first call sets the time of the next look again.
    await forgetDeployments(connection)
    await sleep(SETTLED_MS)
    return forgetDeployments(connection)
  })
  const [own, database] = [after.own - before.own, after.database - before.database]
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  const row = (label: string, cell: string): MetricRow => ({ label, cells: { [RECONCILING]: cell } })
  return {
    rows: [
      row(`of a core for ${formatCount(DEPLOYMENTS)} running deployments`, percent(own)),
      row('… of its PostgreSQL beside it', percent(database)),
      row('of a core without deployments', percent(before.own)),
    ],
    verdicts: [
      {
        target: `${formatCount(DEPLOYMENTS)} deployments of ${ACCOUNTS} accounts cost at most ${percent(CORE_SHARE_MAX)} of a core`,
        measured: `${percent(own)}, and ${percent(database)} of PostgreSQL`,
        isMet: own <= CORE_SHARE_MAX,
      },
    ],
    samples: { before, after },
    usageRowsBefore: new Map([[RECONCILING, usageRows]]),
  }
}

const SETTLED_MS = 5_000

const CHUNKS = 16
/** The same code differs by so much from one run to the next. */
const RATIO_MAX = 1.05
const CATALOG = 'catalog model'
const ALIAS = 'gpt-4o-mini-2024-07-18'
const DEPLOYED = 'deployment'
/** Time after which every process has read a deployment that was inserted without a message. */
const POLL_MS = 6_000

async function measureChat(
  session: BenchSession,
  gateway: RunningContestant,
  isStream: boolean,
): Promise<ScenarioReport> {
  const endpoint = `http://127.0.0.1:${session.direct.port}/v1`
  const id = await withLedgerDatabase(gateway, (database) => seedEngine(database, endpoint))
  await sleep(POLL_MS)
  const body = buildChatBody(isStream ? { chunks: CHUNKS, chunksPerSecond: 0 } : undefined)
  // Under an alias, so that the name of the model has to be changed on both ways for either of them.
  const asked = [
    { name: CATALOG, model: ALIAS },
    { name: DEPLOYED, model: `byom-${id}` },
  ].map(({ name, model }) => ({
    ...gateway,
    id: name,
    request: buildRequest({
      path: '/v1/chat/completions',
      headers: gateway.requestHeaders,
      body: { ...body, model },
    }),
  }))
  const samples = await measureCrowds(session, asked, {
    calibrationMs: session.options.isQuick ? 2_000 : 6_000,
    label: `deployments, ${isStream ? 'streamed' : 'whole'}`,
  })
  const form = isStream ? `streamed (${CHUNKS} chunks)` : 'whole'
  const row = (label: string, cell: string): MetricRow => ({ label, cells: { [CHATTING]: cell } })
  const ofCatalog = cpuPerRequestUs(samples, CATALOG)
  const ratio = median(
    cpuPerRequestUs(samples, DEPLOYED).map((us, round) => us / (ofCatalog[round] ?? Number.NaN)),
  )
  const failures = asked.map((one) => sum(figuresOf(samples, one.id, ({ crowded }) => crowded.failures)))
  return {
    rows: [
      ...asked.map((one) =>
        row(`CPU µs a request, ${form}: ${one.id}`, formatCount(median(cpuPerRequestUs(samples, one.id)))),
      ),
      row(`failed requests, ${form}`, formatCount(sum(failures))),
    ],
    verdicts: [
      {
        target: `a chat with a deployment, ${form}: CPU a request at most ${RATIO_MAX} × that of a catalog model`,
        measured: formatRatio(ratio),
        isMet: ratio <= RATIO_MAX,
      },
    ],
    samples: { isStream, ...Object.fromEntries(samples) },
  }
}

function withLedgerDatabase<Result>(
  { ledger }: RunningContestant,
  work: Parameters<typeof withGatewayDatabase<Result>>[1],
): Promise<Result> {
  if (ledger === undefined) throw new Error('a gateway without a database has no deployments')
  return withGatewayDatabase(ledger.dataDirectory, work)
}
