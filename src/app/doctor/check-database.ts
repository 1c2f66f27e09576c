import type { DatabaseFacts } from './read-database.ts'
import type { Finding } from './finding.ts'

/** What this program expects, and the clock of its machine. */
export interface Expected {
  readonly migrations: number
  readonly nowMs: number
}

const MEBIBYTE = 1024 ** 2
const HOUR_SECONDS = 3_600
const DAY_MS = 86_400_000
const CLOCK_MS_MAX = 5_000
const UNPOSTED_MAX = 1_000
const SLOW_SECONDS = 60
const BLOCKED_SECONDS = 10
const DEAD_ROWS_MIN = 100_000
const TRANSACTION_AGE_MAX = 1_000_000_000
const LAG_BYTES_MAX = 64 * MEBIBYTE
const TASK_SECONDS_MAX = 900
/** The oldest release that its makers still mend. */
const VERSION_SUPPORTED = 140_000

export function checkDatabase(facts: DatabaseFacts, expected: Expected): Finding[] {
  return [
    ...checkServer(facts, expected),
    ...checkSessions(facts),
    ...checkTables(facts),
    ...checkReplication(facts),
    ...checkMoney(facts, expected),
    ...checkWork(facts),
  ]
}

function checkServer(
  { version, nowMs, settings, connections, migrations }: DatabaseFacts,
  expected: Expected,
): Finding[] {
  const findings: Finding[] = []
  const add = (finding: Omit<Finding, 'subject'> & { readonly subject?: string }): void => {
    findings.push({ subject: null, ...finding })
  }
  if (version < VERSION_SUPPORTED)
    add({
      code: 'database_old',
      level: 'critical',
      message: `The server is PostgreSQL ${Math.floor(version / 10_000)}.`,
      mend: 'Upgrade it to 14 or newer.',
    })
  findings.push(...checkSchema(migrations, expected.migrations))
  for (const subject of ['fsync', 'full_page_writes'])
    if (settings.get(subject) === 'off')
      add({
        code: 'writes_not_safe',
        level: 'critical',
        subject,
        message: 'A crash of the machine can destroy the database.',
        mend: `Set ${subject} = on in the server.`,
      })
  if (settings.get('synchronous_commit') === 'off')
    add({
      code: 'commits_not_durable',
      level: 'critical',
      subject: 'synchronous_commit',
      message: 'A crash loses charges of answers that clients already have.',
      mend: 'Set synchronous_commit = on for the role and the database of the gateway.',
    })
  if (settings.get('autovacuum') === 'off')
    add({
      code: 'autovacuum_off',
      level: 'critical',
      subject: 'autovacuum',
      message: 'Old rows are never cleaned up: tables grow, and the server stops in the end.',
      mend: 'Set autovacuum = on in the server.',
    })
  const connectionsMax = Number(settings.get('max_connections') ?? 0)
  if (connectionsMax > 0 && connections > connectionsMax * 0.9)
    add({
      code: 'connections_full',
      level: 'warning',
      message: `${connections} of ${connectionsMax} connections are in use.`,
      mend: 'Raise max_connections, or lower PARKWAY_DATABASE_POOL_SIZE.',
    })
  const clockMs = Math.abs(nowMs - expected.nowMs)
  if (clockMs > CLOCK_MS_MAX)
    add({
      code: 'clock_differs',
      level: 'warning',
      message: `The clock of this machine differs from the one of the database by ${Math.round(clockMs / 1000)} s.`,
      mend: 'Synchronise both with NTP. The gateway uses the clock of the database; tokens of others and certificates do not.',
    })
  return findings
}

/** Compares how many migrations the schema has with those that this release knows. */
export function checkSchema(migrations: number, known: number): Finding[] {
  if (migrations < known)
    return [
      {
        code: 'schema_behind',
        level: 'info',
        subject: null,
        message: `The schema has ${migrations} of ${known} migrations.`,
        mend: 'The next start of this release makes the others: `parkway upgrade check` says what they do. Take a backup before.',
      },
    ]
  if (migrations > known)
    return [
      {
        code: 'schema_ahead',
        level: 'critical',
        subject: null,
        message: `The schema has ${migrations} migrations, of a newer release; this one knows ${known} and does not start.`,
        mend: 'Use the newer release, or restore the backup from before its upgrade.',
      },
    ]
  return []
}

function checkSessions({ sessions }: DatabaseFacts): Finding[] {
  return sessions.flatMap(({ pid, state, seconds, isBlocked, statement }): Finding[] => {
    const subject = `process ${pid}`
    const age = `${Math.round(seconds)} s`
    const end = `If it does no work that is wanted: SELECT pg_terminate_backend(${pid}).`
    if (isBlocked && seconds > BLOCKED_SECONDS)
      return [
        {
          code: 'statement_blocked',
          level: 'warning',
          subject,
          message: `A statement has waited for a lock for ${age}: ${statement}`,
          mend: `SELECT pg_blocking_pids(${pid}) names who holds it.`,
        },
      ]
    if (state === 'active' && seconds > SLOW_SECONDS)
      return [
        {
          code: 'statement_slow',
          level: 'warning',
          subject,
          message: `A statement runs for ${age}: ${statement}`,
          mend: end,
        },
      ]
    if (state !== 'active' && seconds > SLOW_SECONDS)
      return [
        {
          code: 'transaction_open',
          level: seconds > HOUR_SECONDS ? 'critical' : 'warning',
          subject,
          message: `A transaction has been open for ${age} and does nothing; old rows cannot be cleaned up. It last did: ${statement}`,
          mend: end,
        },
      ]
    return []
  })
}

function checkTables({
  tables,
  invalidIndexes,
  transactionAge,
  missingPartitions,
}: DatabaseFacts): Finding[] {
  const findings: Finding[] = []
  for (const { name, rows, dead } of tables)
    if (dead > DEAD_ROWS_MIN && dead > rows)
      findings.push({
        code: 'table_bloated',
        level: 'warning',
        subject: name,
        message: `It has ${dead} dead rows beside ${rows} living ones.`,
        mend: `VACUUM (ANALYZE) ${name}. If it grows again: end long transactions, and let autovacuum work faster.`,
      })
  for (const name of invalidIndexes)
    findings.push({
      code: 'index_invalid',
      level: 'warning',
      subject: name,
      message: 'It was not built to its end, costs every write, and serves no read.',
      mend: `The gateway builds its own again at its next start; otherwise REINDEX INDEX CONCURRENTLY ${name}.`,
    })
  if (transactionAge > TRANSACTION_AGE_MAX)
    findings.push({
      code: 'wraparound_near',
      level: 'critical',
      subject: null,
      message: `Old transactions are not frozen (${transactionAge}); at two thousand million the server stops.`,
      mend: 'End long transactions and unused replication slots, then VACUUM (FREEZE) the database.',
    })
  for (const [subject, count] of missingPartitions)
    findings.push({
      code: 'partitions_missing',
      level: 'critical',
      subject,
      message: `${count} partitions for now and later are missing.`,
      mend: 'A running gateway makes them within minutes. If not, its log says why: mostly a lock that somebody holds.',
    })
  return findings
}

/** Values with which a commit does not wait for a standby. */
const OWN_DISK_ONLY = new Set(['off', 'local'])

function checkReplication({ standbyLagBytes, standbys, inactiveSlots, settings }: DatabaseFacts): Finding[] {
  const findings: Finding[] = []
  const isWaitedFor =
    (settings.get('synchronous_standby_names') ?? '') !== '' &&
    !OWN_DISK_ONLY.has(settings.get('synchronous_commit') ?? 'on')
  if (standbys > 0 && !isWaitedFor)
    findings.push({
      code: 'standby_not_synchronous',
      level: 'warning',
      subject: null,
      message: `Commits do not wait for any of ${standbys} standbys: one that is promoted lacks the charges of the last answers.`,
      mend:
        'Set synchronous_standby_names (Patroni: synchronous_mode and synchronous_mode_strict) and synchronous_commit = on. See docs/operations.md, ' +
        'Availability. If these are no standbys but archives or copies for reading, nothing has to be done.',
    })
  if (standbyLagBytes > LAG_BYTES_MAX)
    findings.push({
      code: 'standby_behind',
      level: 'warning',
      subject: null,
      message: `A standby is ${Math.round(standbyLagBytes / MEBIBYTE)} MiB behind; promoted now, it would lose charges.`,
      mend: 'Look at its network, its disk, and at queries there that hold it up.',
    })
  for (const subject of inactiveSlots)
    findings.push({
      code: 'slot_unused',
      level: 'warning',
      subject,
      message: 'A replication slot that nobody reads keeps more than a gibibyte of log, and more every hour.',
      mend: `Start its reader, or SELECT pg_drop_replication_slot('${subject}').`,
    })
  return findings
}

function checkMoney(
  { refusedCommits, unpostedCommits, ledgerCheck }: DatabaseFacts,
  { nowMs }: Expected,
): Finding[] {
  const findings: Finding[] = []
  const add = (level: Finding['level'], code: string, message: string, mend: string): void => {
    findings.push({ level, code, subject: null, message, mend })
  }
  const verify = 'Run `parkway ledger verify`: it names what is wrong. See docs/runbooks.md.'
  if (refusedCommits > 0)
    add('critical', 'charges_refused', `The books refuse ${refusedCommits} commits of charges.`, verify)
  if (unpostedCommits > UNPOSTED_MAX)
    add(
      'warning',
      'charges_behind',
      `${unpostedCommits} commits of charges are not in the books yet.`,
      'At least one gateway with a worker has to run, and the database has to keep up.',
    )
  if (ledgerCheck !== null && ledgerCheck.differences > 0)
    add(
      'critical',
      'ledger_differs',
      `The last check of the ledger found ${ledgerCheck.differences} broken rules.`,
      verify,
    )
  if (ledgerCheck !== null && nowMs - ledgerCheck.checkedAtMs > 3 * DAY_MS)
    add(
      'warning',
      'ledger_not_checked',
      ledgerCheck.checkedAtMs === 0
        ? 'No check of the ledger came to its end.'
        : `The ledger was last checked ${Math.floor((nowMs - ledgerCheck.checkedAtMs) / DAY_MS)} days ago.`,
      'Look for `the ledger could not be checked` in the log of the workers.',
    )
  return findings
}

function checkWork({ isPaused, isWorked, oldestTaskSeconds }: DatabaseFacts): Finding[] {
  const findings: Finding[] = []
  if (isPaused)
    findings.push({
      code: 'copy_paused',
      level: 'warning',
      subject: null,
      message: 'This database is a restored copy that runs no tasks and deployments.',
      mend: 'If the original is gone: `parkway take-over`.',
    })
  if (oldestTaskSeconds > TASK_SECONDS_MAX)
    findings.push({
      code: isWorked ? 'tasks_wait' : 'no_worker',
      level: isWorked ? 'warning' : 'critical',
      subject: null,
      message: `A task has waited for ${Math.round(oldestTaskSeconds / 60)} minutes${isWorked ? '' : ', and none is worked on'}.`,
      mend: 'Start more workers: `parkway serve --role worker`, or PARKWAY_WORKER_CONCURRENCY.',
    })
  return findings
}
