import { DatabaseError, type Client } from 'pg'
import { firstIdAt, timeOfId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../database.ts'
import { SCHEMA } from '../schema.ts'
import { errorCodeOf } from '../storage-error.ts'
import { likeTable, nameDefault, readOptions } from './make-partitions.ts'
import type { PartitionedTable } from './partitioned-tables.ts'
import { changeTables, endVacuum, queryableOf, requireNoBackup } from './short-transaction.ts'
import { boundsOf, namePartition, spanOfStep, spansFrom, startOfStep } from './step.ts'

/** A table with fewer rows is moved at once, its rows of the present step into the partition of the step. */
const ROWS_AT_ONCE_MAX = 10_000
const DAY_MS = 86_400_000
/** A large table is read once before it is moved. Until then its rows must be from before the next partition. */
const READING_DAYS = 7
/** If it takes longer, the limit is lifted before an insert fails. */
const READ_BEFORE_DAYS = 1
/** A vacuum of the same table is ended for us after a second. */
const READING_LOCK_TIMEOUT_MS = 10_000

/**
 * Makes a plain table the first partition of a new table with its name. No row of a large table is moved: first a check is added that
 * all of its rows are from before the next partition, and read through beside writers, so that attaching it needs no reading. A
 * process that is killed leaves a plain table, with or without the check, and the next one continues. Returns whether it was large.
 */
export async function moveTable(session: Client, table: PartitionedTable, nowMs: number): Promise<boolean> {
  const queryable = queryableOf(session)
  if (await isSmall(queryable, table.name)) {
    const boundMs = startOfStep(table.step, nowMs)
    await changeTables(session, (transaction) =>
      switchTables(transaction, table, { boundMs, nowMs, copiesLater: true }),
    )
    return false
  }
  const boundMs = await limitTable(session, table, nowMs)
  await session.query(`SET lock_timeout = ${READING_LOCK_TIMEOUT_MS}`)
  try {
    await validateChecks(queryable, table.name)
  } catch (error) {
    if (errorCodeOf(error) === CHECK_VIOLATION) await liftLimit(session, table.name)
    throw error
  }
  await changeTables(session, (transaction) =>
    switchTables(transaction, table, { boundMs, nowMs, copiesLater: false }),
  )
  await session.query(`ANALYZE ${table.name}`)
  return true
}

interface Switch {
  /** The end of the first partition. */
  readonly boundMs: number
  readonly nowMs: number
  /** Whether there may be rows of later partitions. */
  readonly copiesLater: boolean
}

const CHECK_VIOLATION = '23514'

/** The partition of the rows from before the table was partitioned. */
function nameEarlier(table: string): string {
  return `${table}_before`
}

const LIMIT_SUFFIX = '_before_limit'

function nameLimit(table: string): string {
  return table + LIMIT_SUFFIX
}

/** Whether a table takes no row of that time until it is moved. Nothing is wrong with the row, which can be written later. */
export function isBeyondLimit(error: unknown): boolean {
  return (
    errorCodeOf(error) === CHECK_VIOLATION &&
    error instanceof DatabaseError &&
    error.constraint?.endsWith(LIMIT_SUFFIX) === true
  )
}

async function isSmall(queryable: Queryable, name: string): Promise<boolean> {
  return (
    (await queryable.query(`SELECT 1 AS one FROM ${name} OFFSET ${ROWS_AT_ONCE_MAX} LIMIT 1`)).length === 0
  )
}

/** Adds the check, or finds that of an earlier attempt. Returns its time. */
async function limitTable(session: Client, { name, step }: PartitionedTable, nowMs: number): Promise<number> {
  const queryable = queryableOf(session)
  const [limit] = await queryable.query<{ id: string }>(
    `SELECT substring(pg_get_constraintdef(oid) FROM '[0-9a-f]{8}-[0-9a-f-]{27}') AS id FROM pg_constraint
     WHERE conrelid = $1::regclass AND conname = $2`,
    [`${SCHEMA}.${name}`, nameLimit(name)],
  )
  if (limit !== undefined) {
    const limitMs = timeOfId(limit.id)
    if (limitMs - nowMs >= READ_BEFORE_DAYS * DAY_MS) return limitMs
    await liftLimit(session, name)
  }
  const boundMs = spanOfStep(step, nowMs + READING_DAYS * DAY_MS).toMs
  const later = await queryable.query(`SELECT 1 AS one FROM ${name} WHERE id >= $1 LIMIT 1`, [
    firstIdAt(boundMs),
  ])
  if (later.length > 0) throw new Error(`${name} has ids that do not begin with a time, and stays as it is`)
  await changeTables(session, async (transaction) => {
    await endVacuum(transaction, name)
    await transaction.query(
      `ALTER TABLE ${name} ADD CONSTRAINT ${nameLimit(name)} CHECK (id < '${firstIdAt(boundMs)}') NOT VALID`,
    )
  })
  return boundMs
}

/** Lifts the limit of a table whose time comes before it is moved. */
async function liftLimit(session: Client, name: string): Promise<void> {
  await changeTables(session, async (transaction) => {
    await transaction.query(`ALTER TABLE ${name} DROP CONSTRAINT IF EXISTS ${nameLimit(name)}`)
  })
}

/** Reads the table. Writers do not wait. */
async function validateChecks(queryable: Queryable, name: string): Promise<void> {
  const unchecked = await queryable.query<{ name: string }>(
    `SELECT quote_ident(conname) AS name FROM pg_constraint
     WHERE conrelid = $1::regclass AND contype = 'c' AND NOT convalidated`,
    [`${SCHEMA}.${name}`],
  )
  for (const check of unchecked)
    await queryable.query(`ALTER TABLE ${name} VALIDATE CONSTRAINT ${check.name}`)
}

async function switchTables(
  transaction: Queryable,
  table: PartitionedTable,
  { boundMs, nowMs, copiesLater }: Switch,
): Promise<void> {
  const { name, step, ahead } = table
  await requireNoBackup(transaction)
  await endVacuum(transaction, name)
  await transaction.query(`LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`)
  await validateChecks(transaction, name)
  const earlier = nameEarlier(name)
  const { primaryKey, indexes, triggers, grants } = await readShape(transaction, name)
  const options = await readOptions(transaction, name)

  await transaction.query(`ALTER TABLE ${name} RENAME TO ${earlier}`)
  for (const index of [primaryKey, ...indexes])
    await transaction.query(`ALTER INDEX ${index.name} RENAME TO ${index.name}_before`)
  for (const trigger of triggers) await transaction.query(`DROP TRIGGER ${trigger.name} ON ${earlier}`)

  await transaction.query(`CREATE TABLE ${name} (${likeTable(earlier)}) PARTITION BY RANGE (id)`)
  await transaction.query(`ALTER TABLE ${name} DROP CONSTRAINT IF EXISTS ${nameLimit(name)}`)
  await transaction.query(`ALTER TABLE ${name} ADD CONSTRAINT ${primaryKey.name} ${primaryKey.definition}`)
  for (const index of indexes) await transaction.query(index.definition)
  await transaction.query(`CREATE TABLE ${nameDefault(name)} PARTITION OF ${name} DEFAULT ${options}`)
  for (const span of spansFrom(step, nowMs, ahead + 1))
    if (span.fromMs >= boundMs)
      await transaction.query(
        `CREATE TABLE ${namePartition(name, step, span)} PARTITION OF ${name} ${boundsOf(span)} ${options}`,
      )
  if (copiesLater)
    await transaction.query(
      `WITH moved AS (DELETE FROM ${earlier} WHERE id >= '${firstIdAt(boundMs)}' RETURNING *)
       INSERT INTO ${name} SELECT * FROM moved`,
    )
  await transaction.query(
    `ALTER TABLE ${name} ATTACH PARTITION ${earlier} FOR VALUES FROM (MINVALUE) TO ('${firstIdAt(boundMs)}')`,
  )
  await transaction.query(`ALTER TABLE ${earlier} DROP CONSTRAINT IF EXISTS ${nameLimit(name)}`)
  for (const statement of [...triggers.map(({ definition }) => definition), ...grants])
    await transaction.query(statement)
}

interface Named {
  readonly name: string
  /** SQL that makes it. */
  readonly definition: string
}

interface Shape {
  readonly primaryKey: Named
  readonly indexes: readonly Named[]
  readonly triggers: readonly Named[]
  /** SQL. What the operator has granted to others. */
  readonly grants: readonly string[]
}

async function readShape(queryable: Queryable, name: string): Promise<Shape> {
  const table = [`${SCHEMA}.${name}`]
  const indexes = await queryable.query<Named & { primary_key: string | null }>(
    `SELECT quote_ident(relname) AS name, pg_get_indexdef(indexrelid) AS definition,
       pg_get_constraintdef(pg_constraint.oid) AS primary_key
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid LEFT JOIN pg_constraint ON conindid = indexrelid AND contype = 'p'
     WHERE indrelid = $1::regclass`,
    table,
  )
  const triggers = await queryable.query<Named>(
    `SELECT quote_ident(tgname) AS name, pg_get_triggerdef(oid) AS definition FROM pg_trigger
     WHERE tgrelid = $1::regclass AND NOT tgisinternal`,
    table,
  )
  const grants = await queryable.query<{ statement: string }>(
    `SELECT format('GRANT %s ON ${SCHEMA}.${name} TO %s %s', privilege_type,
       CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
       CASE WHEN is_grantable THEN 'WITH GRANT OPTION' END) AS statement
     FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = $1::regclass AND grantee <> relowner`,
    table,
  )
  const primaryKey = indexes.find((index) => index.primary_key !== null)
  const definition = primaryKey?.primary_key ?? null
  if (primaryKey === undefined || definition === null) throw new Error(`${name} has no primary key`)
  return {
    primaryKey: { name: primaryKey.name, definition },
    indexes: indexes.filter((index) => index !== primaryKey),
    triggers,
    grants: grants.map(({ statement }) => statement),
  }
}
