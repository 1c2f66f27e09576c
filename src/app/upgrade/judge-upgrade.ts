import { requireSameHistory, type Migration } from '../../storage/migrate.ts'
import { messageOf } from '../../storage/storage-error.ts'
import type { Finding } from '../doctor/finding.ts'
import { describeMigration, type MigrationKind } from './describe-migration.ts'
import type { TableSize, UpgradeFacts } from './read-upgrade.ts'

/** From here on, reading or changing a whole table takes long enough to be noticed. */
const LARGE_ROWS = 1_000_000
/** Slower than servers are seen to be, so that nobody waits longer than was said. */
const ROWS_PER_SECOND = 250_000
/** What the log of the server and new indexes need at least. */
const SPARE_BYTES = 1024 ** 3
const GIBIBYTE = 1024 ** 3

const KINDS: Readonly<Record<MigrationKind, (table: string) => string>> = {
  new_table: (table) => `makes the table ${table}`,
  new_column: (table) => `adds columns to ${table}`,
  new_index: (table) => `builds an index of ${table}, whose writers wait meanwhile`,
  table_read: (table) => `reads all of ${table}, while nobody uses it`,
  table_rewritten: (table) => `writes all of ${table} anew, while nobody uses it`,
  rows_changed: (table) => `changes rows of ${table}`,
  definition: (table) => `changes a rule of ${table}`,
}
const TAKES_LONG: readonly MigrationKind[] = ['new_index', 'table_read', 'table_rewritten', 'rows_changed']

/** Says what the next start of this release will do to the database. `freeBytes` is null if the database is on another machine. */
export function judgeUpgrade(
  facts: UpgradeFacts,
  migrations: readonly Migration[],
  freeBytes: number | null,
): Finding[] {
  const refusal = findRefusal(facts, migrations)
  if (refusal !== null) return [refusal]
  const missing = migrations.slice(facts.applied.length)
  return [
    ...missing.flatMap((migration) => judgeMigration(migration, facts)),
    ...judgeWay(missing, facts),
    ...judgeProcesses(facts),
    ...(missing.length === 0 ? [] : judgeRoom(missing, facts, freeBytes)),
    ...judgeWaits(missing, facts),
  ]
}

/** A start would be refused. */
function findRefusal({ applied }: UpgradeFacts, migrations: readonly Migration[]): Finding | null {
  try {
    requireSameHistory(migrations, applied)
    return null
  } catch (error) {
    return {
      code: 'upgrade_refused',
      level: 'critical',
      subject: null,
      message: messageOf(error),
      mend: 'Start the release that made this database or a newer one, or restore the backup from before.',
    }
  }
}

function judgeMigration({ name, sql }: Migration, { tables }: UpgradeFacts): Finding[] {
  const steps = describeMigration(sql).flatMap(({ kind, table }) => (table === null ? [] : [{ kind, table }]))
  const whole = steps.map(({ kind, table }) => {
    const size = tables.get(table)
    return `${KINDS[kind](table)}${TAKES_LONG.includes(kind) && size !== undefined ? ` (${describeSize(size)})` : ''}`
  })
  const long = steps.filter(
    ({ kind, table }) => TAKES_LONG.includes(kind) && (tables.get(table)?.rows ?? 0) >= LARGE_ROWS,
  )
  const words = whole.length === 0 ? 'changes functions only' : whole.join('; ')
  return [
    {
      code: 'migration_pending',
      level: long.length === 0 ? 'info' : 'warning',
      subject: name,
      message: `It ${words}.`,
      mend:
        long.length === 0
          ? 'Nothing: it takes locks for a moment only, and gives up after 120 s without them; the start is tried again then.'
          : `Upgrade at a quiet hour: ${long.map(({ table }) => table).join(', ')} will be waited for.`,
    },
  ]
}

function describeSize({ rows, bytes }: TableSize): string {
  const seconds = Math.ceil(rows / ROWS_PER_SECOND)
  return `about ${Math.round(rows)} rows in ${Math.ceil(bytes / 1024 ** 2)} MiB, at most about ${seconds} s`
}

function judgeWay(missing: readonly Migration[], { applied }: UpgradeFacts): Finding[] {
  if (missing.length === 0)
    return [
      {
        code: 'way_back_open',
        level: 'info',
        subject: null,
        message: `The schema is the one of this release (${applied.length} migrations): nothing is migrated.`,
        mend: 'Nothing: a release with the same schema can be started again at any time.',
      },
    ]
  return [
    {
      code: 'way_back_closes',
      level: 'info',
      subject: null,
      message: `The first start makes ${missing.length} migrations. Older processes go on beside it, but none can be started any more.`,
      mend: 'Take a backup before (`parkway backup`): to go back, it is restored with the older release. Up to the first start nothing is changed.',
    },
  ]
}

function judgeProcesses({ processes: { living, older } }: UpgradeFacts): Finding[] {
  if (living === 0)
    return [
      {
        code: 'nobody_runs',
        level: 'info',
        subject: null,
        message: 'No process uses this database now.',
        mend: 'Nothing. Migrations beside processes are as safe.',
      },
    ]
  return [
    {
      code: older === 0 ? 'processes_current' : 'processes_older',
      level: 'info',
      subject: null,
      message: `${living} processes use this database; ${older} of them are of an earlier release.`,
      mend:
        older === 0
          ? 'Nothing. Replace them one after the other: each finishes its requests first.'
          : 'Start one process of this release, then replace the others one after the other. What only new ones can read is written when the last of them has ended.',
    },
  ]
}

function judgeRoom(
  missing: readonly Migration[],
  { tables, databaseBytes }: UpgradeFacts,
  freeBytes: number | null,
): Finding[] {
  const written = missing.flatMap(({ sql }) =>
    describeMigration(sql)
      .filter(({ kind }) => kind !== 'table_read' && TAKES_LONG.includes(kind))
      .map(({ table }) => tables.get(table ?? '')?.bytes ?? 0),
  )
  // The new table and its log are there beside the old one.
  const neededBytes = SPARE_BYTES + 2 * Math.max(0, ...written)
  const needed = `${(neededBytes / GIBIBYTE).toFixed(1)} GiB`
  if (freeBytes === null)
    return [
      {
        code: 'room_unknown',
        level: 'info',
        subject: null,
        message: `The database has ${(databaseBytes / GIBIBYTE).toFixed(1)} GiB; the migrations may need ${needed} more for a while.`,
        mend: 'Look at the disk of the database server.',
      },
    ]
  if (freeBytes >= neededBytes) return []
  return [
    {
      code: 'room_short',
      level: 'critical',
      subject: 'the data directory',
      message: `${(freeBytes / GIBIBYTE).toFixed(1)} GiB are free, and the migrations may need ${needed}.`,
      mend: 'Make room or grow the volume before.',
    },
  ]
}

function judgeWaits(
  missing: readonly Migration[],
  { longTransactions, isSchemaLocked }: UpgradeFacts,
): Finding[] {
  if (missing.length === 0) return []
  const findings: Finding[] = longTransactions.map(({ pid, seconds }) => ({
    code: 'transaction_in_the_way',
    level: 'warning',
    subject: `process ${pid}`,
    message: `A transaction is open for ${Math.round(seconds)} s. A migration of a table that it used waits for it, and everybody else waits behind.`,
    mend: `Let it end, or SELECT pg_terminate_backend(${pid}).`,
  }))
  if (isSchemaLocked)
    findings.push({
      code: 'schema_locked',
      level: 'warning',
      subject: null,
      message: 'Somebody migrates, backs up or restores this database now.',
      mend: 'Wait until it has ended: a start waits for 120 s and is refused then.',
    })
  return findings
}
