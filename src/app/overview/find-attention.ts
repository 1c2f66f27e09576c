import type { Static } from 'typebox'
import type { LiveOverview } from '../../http/routes/operator/admin-live.ts'
import { formatUsd } from '../../kernel/money.ts'
import { describeFailingProvider } from './describe-failing-provider.ts'
import type { ProcessReport } from './process-report.ts'
import type { SharedState } from './read-shared-state.ts'

type Overview = Static<typeof LiveOverview>
export type Attention = Overview['attention'][number]

/** What the rules look at. */
export interface Situation {
  readonly overview: Omit<Overview, 'attention'>
  /** The latest of every process. */
  readonly reports: readonly ProcessReport[]
  /** Commits that could not be posted because of a defect. Null if the database does not answer. */
  readonly refusedCommits: number | null
  /** What accounts owe. Null if the database does not answer. */
  readonly debts: SharedState['debts'] | null
  readonly hasProviders: boolean
  /** Names of accounts whose calls failed, by id. */
  readonly accountNames: ReadonlyMap<string, string>
}

const LISTED_MAX = 50
const UNPOSTED_MAX = 1_000
const FAILING_SHARE = 0.5
const ERROR_SHARE = 0.05
const REQUESTS_MIN = 10
const BUSY_SHARE = 0.9
const GIBIBYTE = 1024 ** 3
const LEVELS = ['critical', 'warning', 'info'] as const

/** Lists what an operator should look at, the most urgent first. */
export function findAttention(situation: Situation): Attention[] {
  return [
    ...checkDatabase(situation),
    ...checkLedger(situation),
    ...checkWorkers(situation),
    ...checkProviders(situation),
    ...checkMachines(situation),
    ...checkTraffic(situation),
  ]
    .toSorted((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
    .slice(0, LISTED_MAX)
}

const note = (
  level: Attention['level'],
  code: string,
  message: string,
  subject: string | null = null,
): Attention => ({ level, code, subject, message, explanation: null, failures: [] })

function checkDatabase({ overview: { database } }: Situation): Attention[] {
  const { latency_ms: latencyMs, pool } = database
  if (latencyMs === null) return [note('critical', 'database_away', 'The database does not answer.')]
  if (pool.waiting === 0) return []
  const message = `${pool.waiting} queries wait for a database connection; all ${pool.size} are in use.`
  return [note('warning', 'database_pool_full', message)]
}

function checkLedger({ overview, reports, refusedCommits, debts }: Situation): Attention[] {
  const found: Attention[] = []
  if (reports.some(({ isLedgerHealthy }) => !isLedgerHealthy))
    found.push(note('critical', 'charges_not_written', 'Charges cannot be written, so answers are refused.'))
  if (refusedCommits !== null && refusedCommits > 0)
    found.push(
      note('critical', 'charges_refused', 'Some charges cannot be posted. Run `parkway ledger verify`.'),
    )
  const unposted = overview.database.unposted_commits ?? 0
  if (unposted > UNPOSTED_MAX)
    found.push(note('warning', 'charges_behind', `${unposted} commits of charges are not in the books yet.`))
  if (debts !== null && debts.accounts > 0) {
    const owed = `Answers cost more than accounts had, or payments were reversed: ${formatUsd(debts.nanoUsd)} USD are owed.`
    found.push(note('warning', 'accounts_in_debt', `${debts.accounts} accounts owe. ${owed}`))
  }
  return found
}

function checkWorkers({ overview: { workers, tasks } }: Situation): Attention[] {
  if (workers.running > 0) {
    if (workers.stopped === 0) return []
    return [note('warning', 'worker_stopped', `${workers.stopped} processes do not work on tasks.`)]
  }
  const level = tasks.pending > 0 ? 'critical' : 'warning'
  return [note(level, 'no_worker', `No process works on tasks; ${tasks.pending} wait.`)]
}

function checkProviders({ overview, reports, hasProviders, accountNames }: Situation): Attention[] {
  const open = new Map(
    reports
      .flatMap(({ breakers }) => breakers)
      .filter(({ state }) => state === 'open')
      .map((breaker) => [`${breaker.provider} ${breaker.model}`, breaker]),
  )
  const breakers = [...open.values()].map(({ provider, model }) =>
    note('warning', 'breaker_open', `'${model}' fails at ${provider}; requests use other routes.`, provider),
  )
  const failing = overview.providers
    .filter(
      ({ requests, error_share: share }) =>
        requests >= REQUESTS_MIN && share !== null && share >= FAILING_SHARE,
    )
    .map(({ name, errors, requests }) =>
      describeFailingProvider(name, { errors, requests }, reports, accountNames),
    )
  const none = 'No provider is configured; the sandbox answers dev and test keys.'
  return [...breakers, ...failing, ...(hasProviders ? [] : [note('info', 'no_provider', none)])]
}

function checkMachines({ overview: { disk }, reports }: Situation): Attention[] {
  const found: Attention[] = []
  if (disk !== null) {
    const share = disk.total_bytes === 0 ? 1 : disk.free_bytes / disk.total_bytes
    const message = `${(disk.free_bytes / GIBIBYTE).toFixed(1)} GiB of the disk are free.`
    if (share < 0.01 || disk.free_bytes < GIBIBYTE / 4) found.push(note('critical', 'disk_low', message))
    else if (share < 0.05 || disk.free_bytes < GIBIBYTE) found.push(note('warning', 'disk_low', message))
  }
  const busy = reports.filter(({ busyShare }) => busyShare > BUSY_SHARE).length
  if (busy > 0) found.push(note('warning', 'process_busy', `${busy} processes use nearly all of a core.`))
  return found
}

function checkTraffic({ overview: { requests, queue } }: Situation): Attention[] {
  const found: Attention[] = []
  const { per_second: all, errors_per_second: errors } = requests
  if (all >= 1 && errors >= all * ERROR_SHARE)
    found.push(note('warning', 'errors', `${Math.round((errors / all) * 100)} % of the requests fail.`))
  if (queue.waiting > 0)
    found.push(note('info', 'queue_waiting', `${queue.waiting} requests wait for a slot of a local model.`))
  return found
}
