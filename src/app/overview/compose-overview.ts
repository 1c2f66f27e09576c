import type { Static } from 'typebox'
import type { LiveOverview } from '../../http/routes/operator/admin-live.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { addCounts } from '../../telemetry/process-figures.ts'
import { describeRecent, milliseconds } from './describe-provider.ts'
import { findAttention } from './find-attention.ts'
import type { ProcessReport } from './process-report.ts'
import type { ReportHistory } from './process-reports.ts'
import type { SharedState } from './read-shared-state.ts'

interface OverviewParts {
  readonly nowMs: number
  readonly histories: readonly ReportHistory[]
  /** Null while the database does not answer. */
  readonly shared: SharedState | null
  /** All slots of local models. */
  readonly slots: number
  readonly hasProviders: boolean
  /** Names of accounts whose calls failed, by id. */
  readonly accountNames: ReadonlyMap<string, string>
}

/** Adds the reports of all processes up. */
export function composeOverview(parts: OverviewParts): Static<typeof LiveOverview> {
  const { histories, shared, slots, hasProviders, accountNames } = parts
  const reports = histories.flatMap((history) => history.slice(-1))
  const perSecond = (read: (report: ProcessReport) => number): number =>
    round(histories.reduce((sum, history) => sum + rateOf(history, read), 0))
  const sum = (read: (report: ProcessReport) => number): number =>
    reports.reduce((total, report) => total + read(report), 0)
  const durations = addCounts(histories.map(recentDurations))
  const workers = reports.flatMap(({ worker }) => (worker === null ? [] : [worker]))
  const overview = {
    object: 'overview' as const,
    at: toTimestamp(parts.nowMs),
    processes: reports.length,
    requests: {
      per_second: perSecond(({ requests }) => requests),
      errors_per_second: perSecond(({ errors }) => errors),
      refused_per_second: perSecond(({ refused }) => refused),
      running: Math.max(
        0,
        sum(({ inFlight }) => inFlight),
      ),
      latency_ms: { p50: milliseconds(durations, 0.5), p95: milliseconds(durations, 0.95) },
    },
    tokens_per_second: {
      prompt: perSecond(({ promptTokens }) => promptTokens),
      completion: perSecond(({ completionTokens }) => completionTokens),
    },
    spend_usd_per_second: shared?.spendUsdPerSecond ?? 0,
    tasks: shared?.tasks ?? { pending: 0, processing: 0 },
    queue: { waiting: shared?.queue.waiting ?? 0, in_use: shared?.queue.inUse ?? 0, slots },
    workers: {
      running: workers.filter(({ isRunning }) => isRunning).length,
      stopped: workers.filter(({ isRunning }) => !isRunning).length,
      slots: workers.reduce((total, worker) => total + worker.slots, 0),
    },
    database: {
      latency_ms: shared === null ? null : round(shared.latencyMs),
      pool: {
        size: sum(({ pool }) => pool.size),
        in_use: sum(({ pool }) => pool.inUse),
        waiting: sum(({ pool }) => pool.waiting),
      },
      unposted_commits: shared?.unpostedCommits ?? null,
    },
    disk: leastDisk(reports),
    providers: describeProviders(reports),
  }
  const refusedCommits = shared?.refusedCommits ?? null
  const debts = shared?.debts ?? null
  const attention = findAttention({ overview, reports, refusedCommits, debts, hasProviders, accountNames })
  return { ...overview, attention }
}

/** Averaged over the reports that are kept of a process. */
function rateOf(history: ReportHistory, read: (report: ProcessReport) => number): number {
  const [first] = history
  const last = history.at(-1)
  if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0
  return Math.max(0, (read(last) - read(first)) / ((last.atMs - first.atMs) / 1000))
}

function recentDurations(history: ReportHistory): number[] {
  const [first] = history
  const counts = history.at(-1)?.durations ?? []
  return counts.map((count, bucket) => Math.max(0, count - (first?.durations[bucket] ?? 0)))
}

function leastDisk(reports: readonly ProcessReport[]): Static<typeof LiveOverview>['disk'] {
  const disks = reports.flatMap(({ disk }) => (disk === null ? [] : [disk]))
  const [least] = disks.toSorted((a, b) => a.freeBytes - b.freeBytes)
  return least === undefined ? null : { free_bytes: least.freeBytes, total_bytes: least.totalBytes }
}

function describeProviders(reports: readonly ProcessReport[]): Static<typeof LiveOverview>['providers'] {
  const open = reports.flatMap(({ breakers }) => breakers.filter(({ state }) => state === 'open'))
  const names = new Set([
    ...reports.flatMap(({ providers }) => providers.map(({ name }) => name)),
    ...open.map(({ provider }) => provider),
  ])
  return [...names].toSorted().map((name) => {
    const { window_seconds: _, ...recent } = describeRecent(reports, name)
    const broken = new Set(open.filter(({ provider }) => provider === name).map(({ model }) => model))
    return { name, ...recent, open_breakers: broken.size }
  })
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
