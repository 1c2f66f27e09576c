import type { Registry } from 'prom-client'
import { createCounterFamily, createGaugeFamily } from './metric-family.ts'

/** Metrics of a state that is read when somebody asks for it. */
export interface StateMetrics {
  /** Sets where the state is read. Until then its metrics are left out. */
  readFrom(readers: StateReaders): void
  /** Reads the state again. Never rejects. */
  refresh(): Promise<void>
}

interface StateReaders {
  readonly readProcess: () => ProcessState
  /** Returns null if the database does not answer in time. */
  readonly readDatabase: () => Promise<DatabaseState | null>
  /** Returns when certificates end, by the name of their endpoint. */
  readonly readCertificates: () => ReadonlyMap<string, number>
}

interface ProcessState {
  readonly pool: { readonly size: number; readonly inUse: number; readonly waiting: number }
  readonly isWorkerRunning: boolean
  /** Null without a replica. */
  readonly replica: ReplicaFigures | null
}

interface ReplicaFigures {
  readonly isUsed: boolean
  /** Null if it is not known. */
  readonly lagMs: number | null
  readonly readsOfReplica: number
  readonly readsOfPrimary: number
}

/** What only the database knows. All processes see the same. */
export interface DatabaseState {
  readonly pingSeconds: number
  readonly bytes: number
  readonly connections: number
  readonly connectionsMax: number
  readonly longestTransactionSeconds: number
  /** Of the standby that is behind most. Null without one, or without the right to see it. */
  readonly replicationLagBytes: number | null
  readonly unpostedCommits: number
  readonly refusedCommits: number
  readonly debtUsd: number
  readonly tasks: { readonly pending: number; readonly processing: number }
  readonly oldestPendingTaskSeconds: number
  readonly deployments: ReadonlyMap<string, number>
  /** Machines that are bound to a deployment, by tier. */
  readonly gpus: ReadonlyMap<string, { readonly count: number; readonly usdPerHour: number }>
  /** How far exports are, one for each sink. */
  readonly exports: readonly {
    readonly name: string
    readonly waiting: number
    readonly waitedMs: number
    readonly failures: number
  }[]
  readonly storedBytes: ReadonlyMap<string, number>
  readonly expiringKeys: number
  /** Null if the ledger was never checked. */
  readonly ledgerCheck: { readonly differences: number; readonly checkedAtSeconds: number } | null
}

type Families = ReturnType<typeof createStateFamilies>

export function createStateMetrics(registry: Registry): StateMetrics {
  const families = createStateFamilies(registry)
  let readers: StateReaders | null = null
  return {
    readFrom: (given) => {
      readers = given
    },
    refresh: async () => {
      if (readers === null) return
      setProcess(families, readers.readProcess())
      for (const [endpoint, seconds] of readers.readCertificates())
        families.certificates.series(endpoint).value = seconds
      const state = await readers.readDatabase().catch(() => null)
      families.databaseUp.series().value = state === null ? 0 : 1
      if (state !== null) setDatabase(families, state)
    },
  }
}

function createStateFamilies(registry: Registry) {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    createGaugeFamily(registry, { name, help, labelNames })
  const shared = (name: string, help: string, labelNames: string[] = []) =>
    createGaugeFamily(registry, { name, help, labelNames, aggregator: 'max' })
  const least = (name: string, help: string, labelNames: string[] = []) =>
    createGaugeFamily(registry, { name, help, labelNames, aggregator: 'min' })
  return {
    pool: gauge('parkway_database_pool_connections', 'Connections to the database, by state.', ['state']),
    replicaUsed: least(
      'parkway_read_replica_in_use',
      '1 while reads that may be old use the replica, 0 while they use the primary.',
    ),
    replicaLag: shared('parkway_read_replica_lag_seconds', 'How old the data of the replica is.'),
    replicaReads: createCounterFamily(registry, {
      name: 'parkway_replica_reads_total',
      help: 'Requests whose reads may be old, by the server that was read.',
      labelNames: ['server'],
    }),
    poolWaiting: gauge('parkway_database_pool_waiting', 'Queries that wait for a connection.'),
    workers: gauge('parkway_workers_running', 'Processes that work on tasks.'),
    certificates: least(
      'parkway_certificate_expiry_timestamp_seconds',
      'When the certificate of an endpoint of this gateway ends, since the Unix epoch.',
      ['endpoint'],
    ),
    databaseUp: least('parkway_database_up', '1 while the database answers.'),
    ping: shared('parkway_database_ping_seconds', 'One round trip to the database.'),
    bytes: shared('parkway_database_size_bytes', 'The database on its disk.'),
    connections: shared('parkway_database_connections', 'Connections of all clients to the database.'),
    connectionsMax: shared(
      'parkway_database_connections_limit',
      'The most connections that its server takes.',
    ),
    transaction: shared(
      'parkway_database_longest_transaction_seconds',
      'Age of the oldest open transaction.',
    ),
    replication: shared('parkway_database_replication_lag_bytes', 'How far the last standby is behind.'),
    unposted: shared('parkway_ledger_unposted_commits', 'Commits of charges that are not in the books yet.'),
    refused: shared('parkway_ledger_refused_commits', 'Commits of charges that the books refuse.'),
    differences: shared(
      'parkway_ledger_differences',
      'Rules of the ledger that its last check found broken.',
    ),
    checked: shared(
      'parkway_ledger_checked_timestamp_seconds',
      'When the ledger was last checked, since the Unix epoch.',
    ),
    debt: shared('parkway_debt_usd', 'What accounts owe together, in dollars.'),
    tasks: shared('parkway_tasks', 'Tasks that are not done, by status.', ['status']),
    oldestTask: shared('parkway_tasks_oldest_pending_seconds', 'How long the oldest task has waited.'),
    deployments: shared('parkway_deployments', 'Deployments of models, by status.', ['status']),
    gpus: shared('parkway_gpus_bound', 'Machines that are bound to deployments, by tier.', ['tier']),
    gpuPrice: shared('parkway_gpus_price_usd_per_hour', 'What bound machines cost an hour, by tier.', [
      'tier',
    ]),
    stored: shared('parkway_stored_bytes', 'Stored bytes of all accounts, by kind.', ['kind']),
    exportRequests: shared('parkway_export_lag_requests', 'Requests that a sink has not confirmed.', [
      'sink',
    ]),
    exportSeconds: shared(
      'parkway_export_lag_seconds',
      'How long the first request that a sink has not confirmed has waited.',
      ['sink'],
    ),
    exportFailures: shared('parkway_export_failing', 'Attempts of a sink in a row that failed.', ['sink']),
    expiringKeys: shared(
      'parkway_keys_expiring',
      'Keys that were used in the last week and end within the next one.',
    ),
  }
}

function setProcess(families: Families, { pool, replica, isWorkerRunning }: ProcessState): void {
  if (replica !== null) {
    families.replicaUsed.series().value = replica.isUsed ? 1 : 0
    if (replica.lagMs !== null) families.replicaLag.series().value = replica.lagMs / 1e3
    families.replicaReads.series('replica').value = replica.readsOfReplica
    families.replicaReads.series('primary').value = replica.readsOfPrimary
  }
  families.pool.series('in_use').value = pool.inUse
  families.pool.series('free').value = Math.max(0, pool.size - pool.inUse)
  families.poolWaiting.series().value = pool.waiting
  families.workers.series().value = isWorkerRunning ? 1 : 0
}

function setDatabase(families: Families, state: DatabaseState): void {
  families.ping.series().value = state.pingSeconds
  families.bytes.series().value = state.bytes
  families.connections.series().value = state.connections
  families.connectionsMax.series().value = state.connectionsMax
  families.transaction.series().value = state.longestTransactionSeconds
  if (state.replicationLagBytes !== null) families.replication.series().value = state.replicationLagBytes
  families.unposted.series().value = state.unpostedCommits
  families.refused.series().value = state.refusedCommits
  families.debt.series().value = state.debtUsd
  families.tasks.series('pending').value = state.tasks.pending
  families.tasks.series('processing').value = state.tasks.processing
  families.oldestTask.series().value = state.oldestPendingTaskSeconds
  setAll(families.deployments, state.deployments)
  const gpus = [...state.gpus]
  setAll(families.gpus, new Map(gpus.map(([tier, { count }]) => [tier, count])))
  setAll(families.gpuPrice, new Map(gpus.map(([tier, { usdPerHour }]) => [tier, usdPerHour])))
  setExports(families, state)
  setAll(families.stored, state.storedBytes)
  families.expiringKeys.series().value = state.expiringKeys
  if (state.ledgerCheck === null) return
  families.differences.series().value = state.ledgerCheck.differences
  families.checked.series().value = state.ledgerCheck.checkedAtSeconds
}

function setExports(families: Families, { exports }: DatabaseState): void {
  const by = (read: (sink: DatabaseState['exports'][number]) => number) =>
    new Map(exports.map((sink) => [sink.name, read(sink)]))
  setAll(
    families.exportRequests,
    by(({ waiting }) => waiting),
  )
  setAll(
    families.exportSeconds,
    by(({ waitedMs }) => waitedMs / 1e3),
  )
  setAll(
    families.exportFailures,
    by(({ failures }) => failures),
  )
}

/** What is not counted any more is zero. */
function setAll(family: Families['gpus'], counts: ReadonlyMap<string, number>): void {
  for (const { series } of family.all()) series.value = 0
  for (const [label, count] of counts) family.series(label).value = count
}
