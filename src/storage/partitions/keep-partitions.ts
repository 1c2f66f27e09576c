import type { Logger } from '../../kernel/logger.ts'
import { SESSION_PREFIX } from '../bus/bus-connection.ts'
import { openSession } from '../connection/open-session.ts'
import type { Queryable } from '../database.ts'
import { repeat } from '../leased-work/repeat.ts'
import { SCHEMA } from '../schema.ts'
import { dropPartition, listExpired, type Retention } from './drop-partitions.ts'
import { dropStrays, findStrays } from './drop-strays.ts'
import { hasOlderProcesses } from './older-processes.ts'
import { listMissing, makePartitions } from './make-partitions.ts'
import { moveTable } from './move-table.ts'
import { PARTITIONED_TABLES, type PartitionedTable } from './partitioned-tables.ts'
import { readPartitions } from './read-partitions.ts'
import { queryableOf, TablesInUse } from './short-transaction.ts'

export type { Retention } from './drop-partitions.ts'

/** Advisory lock of the process that makes, moves and drops partitions. */
const LOCK_ID = 7_275_929_041
const PAUSE_MS = 60_000
const LOCK_TIMEOUT_MS = 10_000

export interface KeepPartitionsOptions {
  readonly database: Queryable
  readonly connectionString: string
  readonly logger: Logger
  readonly retentions: readonly Retention[]
  /** Whether no index of these tables is still to be built. */
  readonly areIndexesReady: () => Promise<boolean>
  /** Called with how many partitions of a table should be there and are not. */
  readonly onCounted?: (table: string, missing: number) => void
  readonly tables?: readonly PartitionedTable[]
}

/**
 * Keeps the partitions of all partitioned tables: moves plain tables, makes partitions ahead and drops those whose rows are not kept any
 * more, in one process at a time. Nothing waits for it: rows without a partition of their time go to the default partition.
 */
export function keepPartitions(options: KeepPartitionsOptions): { close(): Promise<void> } {
  const { logger } = options
  const closing = new AbortController()
  const stop = repeat({
    pauseMs: PAUSE_MS,
    firstMs: 0,
    work: () => arrangePartitions(options, closing.signal),
    onFailure: (error) => {
      if (closing.signal.aborted) return
      if (error instanceof TablesInUse)
        logger.info({ reason: error.message }, 'partitions are arranged later')
      else logger.warn({ err: error }, 'partitions could not be arranged; trying again')
    },
  })
  return {
    close: async () => {
      closing.abort()
      await stop()
    },
  }
}

/** Does what is to be done now, if there is anything and no other process does it. */
export async function arrangePartitions(
  options: KeepPartitionsOptions,
  closing: AbortSignal = new AbortController().signal,
): Promise<void> {
  const todo = await findWork(options)
  if (todo.length === 0 || closing.aborted || !(await options.areIndexesReady())) return
  const { connectionString } = options
  const session = await openSession({
    connectionString,
    applicationName: 'parkway-partitions',
    lockTimeoutMs: LOCK_TIMEOUT_MS,
  })
  // Ending the session cancels nothing on the server, so that a long statement is cancelled by its process id.
  const { rows } = await session.query<{ pid: number; held: boolean }>(
    `SELECT pg_backend_pid() AS pid, pg_try_advisory_lock($1) AS held, set_config('search_path', '${SCHEMA}', false)`,
    [LOCK_ID],
  )
  const [{ pid, held } = { pid: 0, held: false }] = rows
  const cancel = (): void =>
    void options.database.query('SELECT pg_cancel_backend($1)', [pid]).catch(() => {})
  closing.addEventListener('abort', cancel, { once: true })
  try {
    if (!held) return
    let failure: Error | null = null
    // As it is now: another process may have done it meanwhile.
    for (const { table } of await findWork({ ...options, database: queryableOf(session) })) {
      if (closing.aborted) return
      // A table that is in use keeps no other one waiting.
      try {
        await arrangeTable(session, table, options)
      } catch (error) {
        failure ??= error instanceof Error ? error : new Error(String(error))
      }
    }
    if (failure !== null) throw failure
  } finally {
    closing.removeEventListener('abort', cancel)
    await session.end().catch(() => {})
  }
}

async function arrangeTable(
  session: Awaited<ReturnType<typeof openSession>>,
  table: PartitionedTable,
  { logger, retentions }: KeepPartitionsOptions,
): Promise<void> {
  const read = () => readPartitions(queryableOf(session), [table.name])
  const startedMs = performance.now()
  let state = await read()
  if (state.tables[0]?.partitions === null) {
    if (
      table.waitsForOlderProcesses === true &&
      (await hasOlderProcesses(queryableOf(session), SESSION_PREFIX))
    )
      throw new TablesInUse('processes of the release before are running')
    const wasLarge = await moveTable(session, table, state.nowMs)
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    if (wasLarge) logger.info({ table: table.name, seconds }, 'table partitioned')
    state = await read()
  }
  const partitions = state.tables[0]?.partitions ?? []
  const made = await makePartitions(session, table, listMissing(table, partitions, state.nowMs))
  // Nobody else does it for the whole table.
  if (made > 0) await session.query(`ANALYZE ${table.name}`)
  for (const retention of retentions.filter((kept) => kept.table === table.name)) {
    for (const partition of listExpired(partitions, retention, state.nowMs))
      if (await dropPartition(session, partition, retention))
        logger.info({ partition: partition.name }, 'partition dropped, as its rows are not kept any more')
    const rows = await dropStrays(session, table, retention, state.nowMs)
    if (rows > 0) logger.info({ table: table.name, rows }, 'rows without a partition dropped')
  }
}

/** The tables that something is to be done for. Tells what is missing of each. */
async function findWork({
  database,
  retentions,
  onCounted,
  tables = PARTITIONED_TABLES,
}: KeepPartitionsOptions): Promise<{ table: PartitionedTable }[]> {
  const { nowMs, tables: states } = await readPartitions(
    database,
    tables.map(({ name }) => name),
  )
  const work: { table: PartitionedTable }[] = []
  for (const { name, partitions } of states) {
    const table = tables.find((known) => known.name === name)
    if (table === undefined) continue
    if (partitions === null) {
      work.push({ table })
      continue
    }
    const missing = listMissing(table, partitions, nowMs)
    onCounted?.(name, missing.length)
    let isExpired = false
    for (const retention of retentions.filter((kept) => kept.table === name))
      isExpired ||=
        listExpired(partitions, retention, nowMs).length > 0 ||
        (await findStrays(database, table, retention, nowMs)) !== null
    if (missing.length > 0 || isExpired) work.push({ table })
  }
  return work
}
