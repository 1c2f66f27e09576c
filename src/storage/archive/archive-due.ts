import type { Database, KeptConnection, Queryable } from '../database.ts'
import { ARCHIVED_TABLES, type ArchivedTable } from './archived-tables.ts'
import { archiveMonth, RowsHaveChanged, type ArchiveWork } from './archive-month.ts'
import { findUnarchived } from './find-unarchived.ts'
import { closedUntil, type Month } from './month.ts'

/** Advisory lock of the process that writes archives. */
const LOCK_ID = 7_275_929_043

export interface DueMonth {
  readonly table: ArchivedTable
  readonly month: Month
}

/** The closed months whose rows are in no complete archive. */
export async function findDueMonths(queryable: Queryable): Promise<DueMonth[]> {
  const [row] = await queryable.query<{ now_ms: number }>(
    'SELECT (extract(epoch FROM now()) * 1000)::float8 AS now_ms',
  )
  const closedMs = closedUntil(row?.now_ms ?? 0)
  const due: DueMonth[] = []
  for (const table of ARCHIVED_TABLES)
    for (const month of await findUnarchived(queryable, table, closedMs)) due.push({ table, month })
  return due
}

/** Whether no process writes archives now. */
export async function isNobodyArchiving(queryable: Queryable): Promise<boolean> {
  // Given up at the end of the statement.
  const [row] = await queryable.query<{ free: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS free', [
    LOCK_ID,
  ])
  return row?.free === true
}

export interface DueWork extends Omit<ArchiveWork, 'database'> {
  readonly database: Database
  readonly onArchived: (archived: { table: string; month: string; rows: number }) => void
  /** Rows came meanwhile; the month is written again next time. */
  readonly onPutOff: (reason: string) => void
}

/** Archives all months that are due, one after the other, in one process at a time. */
export async function archiveDue({ onArchived, onPutOff, ...work }: DueWork): Promise<void> {
  const { database, store } = work
  const lock = await database.keepConnection()
  let isHeld = false
  try {
    const [row] = await lock.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [LOCK_ID])
    isHeld = row?.held === true
    if (!isHeld) return
    // Nobody else writes here, so that these are of processes that were killed.
    await store.removeUnfinished(new Date())
    const rest = async (workedMs: number): Promise<void> => {
      if (lock.isLost) throw new Error('the connection with the lock is lost')
      await work.rest(workedMs)
    }
    for (const { table, month } of await findDueMonths(lock)) {
      try {
        const { rows } = await archiveMonth({ ...work, rest }, table, month)
        onArchived({ table: table.name, month: month.name, rows })
      } catch (error) {
        if (!(error instanceof RowsHaveChanged)) throw error
        onPutOff(error.message)
      }
    }
  } finally {
    await release(lock, isHeld)
  }
}

/** A connection whose lock cannot be given up is closed, which ends the lock. */
async function release(lock: KeptConnection, isHeld: boolean): Promise<void> {
  try {
    if (isHeld) await lock.query('SELECT pg_advisory_unlock($1)', [LOCK_ID])
    lock.release(false)
  } catch {
    lock.release(true)
  }
}
