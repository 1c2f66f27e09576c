import { expect, test } from 'vitest'
import { findAttention, type Situation } from './find-attention.ts'
import type { ProcessReport } from './process-report.ts'

const REPORT: ProcessReport = {
  id: 'one',
  role: 'all',
  atMs: 0,
  requests: 0,
  errors: 0,
  refused: 0,
  inFlight: 0,
  durations: [],
  promptTokens: 0,
  completionTokens: 0,
  providers: [],
  breakers: [],
  pool: { size: 10, inUse: 1, waiting: 0 },
  isLedgerHealthy: true,
  worker: { isRunning: true, slots: 8 },
  busyShare: 0.1,
  disk: null,
}

const OVERVIEW: Situation['overview'] = {
  object: 'overview',
  at: '2026-01-01T00:00:00.000Z',
  processes: 1,
  requests: {
    per_second: 10,
    errors_per_second: 0,
    refused_per_second: 0,
    running: 0,
    latency_ms: { p50: null, p95: null },
  },
  tokens_per_second: { prompt: 0, completion: 0 },
  spend_usd_per_second: 0,
  tasks: { pending: 0, processing: 0 },
  queue: { waiting: 0, in_use: 0, slots: 0 },
  workers: { running: 1, stopped: 0, slots: 8 },
  database: { latency_ms: 1, pool: { size: 10, in_use: 1, waiting: 0 }, unposted_commits: 0 },
  disk: { free_bytes: 100 * 1024 ** 3, total_bytes: 200 * 1024 ** 3 },
  providers: [],
}

const HEALTHY: Situation = {
  overview: OVERVIEW,
  reports: [REPORT],
  refusedCommits: 0,
  debts: { accounts: 0, nanoUsd: 0n },
  hasProviders: true,
  accountNames: new Map(),
}
const overview = (change: Partial<Situation['overview']>): Situation => ({
  ...HEALTHY,
  overview: { ...OVERVIEW, ...change },
})
const report = (change: Partial<ProcessReport>): Situation => ({
  ...HEALTHY,
  reports: [{ ...REPORT, ...change }],
})
const breaker = { provider: 'openai', model: 'gpt', state: 'open', accounts: 0 } as const

test('a healthy gateway needs no attention', () => {
  expect(findAttention(HEALTHY)).toEqual([])
})

test.each<[string, string, Situation]>([
  ['critical', 'database_away', overview({ database: { ...OVERVIEW.database, latency_ms: null } })],
  [
    'warning',
    'database_pool_full',
    overview({ database: { ...OVERVIEW.database, pool: { size: 1, in_use: 1, waiting: 3 } } }),
  ],
  ['critical', 'charges_not_written', report({ isLedgerHealthy: false })],
  ['critical', 'charges_refused', { ...HEALTHY, refusedCommits: 1 }],
  ['warning', 'charges_behind', overview({ database: { ...OVERVIEW.database, unposted_commits: 5000 } })],
  ['warning', 'accounts_in_debt', { ...HEALTHY, debts: { accounts: 2, nanoUsd: 490_000_000n } }],
  ['warning', 'no_worker', overview({ workers: { running: 0, stopped: 0, slots: 0 } })],
  [
    'critical',
    'no_worker',
    overview({ workers: { running: 0, stopped: 1, slots: 8 }, tasks: { pending: 3, processing: 0 } }),
  ],
  ['warning', 'worker_stopped', overview({ workers: { running: 1, stopped: 1, slots: 16 } })],
  ['warning', 'breaker_open', report({ breakers: [breaker, breaker] })],
  ['warning', 'disk_low', overview({ disk: { free_bytes: 4 * 1024 ** 3, total_bytes: 100 * 1024 ** 3 } })],
  ['critical', 'disk_low', overview({ disk: { free_bytes: 1000, total_bytes: 100 * 1024 ** 3 } })],
  ['warning', 'process_busy', report({ busyShare: 0.95 })],
  ['warning', 'errors', overview({ requests: { ...OVERVIEW.requests, errors_per_second: 1 } })],
  ['info', 'queue_waiting', overview({ queue: { waiting: 2, in_use: 4, slots: 4 } })],
  ['info', 'no_provider', { ...HEALTHY, hasProviders: false }],
  [
    'warning',
    'provider_failing',
    overview({
      providers: [
        {
          name: 'openai',
          requests: 10,
          errors: 5,
          error_share: 0.5,
          latency_ms: { p50: 1, p95: 1 },
          open_breakers: 0,
        },
      ],
    }),
  ],
])('%s: %s', (level, code, situation) => {
  expect(findAttention(situation)).toEqual([expect.objectContaining({ level, code })])
})

test('the most urgent comes first', () => {
  const found = findAttention({ ...report({ isLedgerHealthy: false, busyShare: 1 }), hasProviders: false })
  expect(found.map(({ level }) => level)).toEqual(['critical', 'warning', 'info'])
})

const failingCall = {
  provider: 'openai',
  upstreamModel: 'gpt-upstream',
  model: 'gpt',
  accountId: 'a',
  failure: 'status',
  status: 500,
  code: null,
  isBreakerFailure: true,
  calls: 12,
}

function failing(failures: readonly object[], breakers: ProcessReport['breakers'] = []) {
  const provider = { ...EMPTY_PROVIDER, name: 'openai', requests: 16, errors: 16, error_share: 1 }
  const [found] = findAttention({
    ...overview({ providers: [provider] }),
    reports: [{ ...REPORT, failures: failures.map((failure) => ({ ...failingCall, ...failure })), breakers }],
    accountNames: new Map([['a', 'Ada']]),
  })
  return found
}

const EMPTY_PROVIDER = { latency_ms: { p50: null, p95: null }, open_breakers: 0 }

test('a failing provider is named with its models, accounts and errors', () => {
  const found = failing([{}, { accountId: 'b', calls: 4, status: 429, code: 'rate' }])
  expect(found?.message).toBe(
    '16 of 16 calls of openai failed in five minutes: gpt for Ada, b, status 500, status 429 rate.',
  )
  expect(found?.failures).toMatchObject([
    { model: 'gpt', account_id: 'a', account_name: 'Ada', calls: 12, http_status: 500 },
    { account_id: 'b', account_name: null, calls: 4, error_code: 'rate' },
  ])
})

test.each<[string, readonly object[], ProcessReport['breakers']]>([
  ['closed: one opens after five', [{}], []],
  ['status 401 does not count', [{ status: 401, isBreakerFailure: false }], []],
  [
    'closed for everybody, because they open only if two accounts',
    [{}],
    [{ ...breaker, state: 'closed', accounts: 1 }],
  ],
  ['breaker of gpt is open', [{}], [{ ...breaker, state: 'half-open' }]],
])('the state of its breakers is explained: %s', (part, failures, breakers) => {
  expect(failing(failures, breakers)?.explanation).toContain(part)
})
