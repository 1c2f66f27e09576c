import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Logger } from '../../kernel/logger.ts'
import type { Queryable } from '../database.ts'
import { repeat } from '../leased-work/repeat.ts'
import { ARCHIVED_TABLES } from './archived-tables.ts'
import { findDueMonths, isNobodyArchiving } from './archive-due.ts'
import type { ArchivePlace } from './archive-store.ts'
import type { ArchiveMessage, ArchiveOrder } from './archive-thread.ts'

const PAUSE_MS = 600_000
const FIRST_MS = 30_000
const THREAD_MEMORY_MIB_MAX = 512

interface KeepArchivesOptions {
  readonly database: Queryable
  readonly connectionString: string
  readonly place: ArchivePlace
  readonly logger: Logger
  /** Called with how many closed months of a table are in no archive. */
  readonly onCounted?: (table: string, months: number) => void
  /** The time until it looks first. */
  readonly firstMs?: number
}

/**
 * Writes closed months to files, in a thread of one process at a time. Nothing waits for it: rows are dropped only when their archive is
 * complete.
 */
export function keepArchives({
  database,
  connectionString,
  place,
  logger,
  onCounted,
  firstMs = FIRST_MS,
}: KeepArchivesOptions): { close(): Promise<void> } {
  let thread: Worker | null = null
  let isClosing = false
  const archive = async (): Promise<void> => {
    const due = await findDueMonths(database)
    for (const { name } of ARCHIVED_TABLES)
      onCounted?.(name, due.filter(({ table }) => table.name === name).length)
    if (due.length === 0 || !(await isNobodyArchiving(database)) || isClosing) return
    thread = startThread({ connectionString, place })
    thread.on('message', (message: ArchiveMessage) => report(logger, message))
    await once(thread, 'exit').finally(() => {
      thread = null
    })
  }
  const stop = repeat({
    pauseMs: PAUSE_MS,
    firstMs,
    work: archive,
    onFailure: (error) => {
      if (!isClosing) logger.warn({ err: error }, 'archives could not be written; trying again')
    },
  })
  return {
    close: async () => {
      isClosing = true
      // What it has not recorded is written again.
      void thread?.terminate()
      await stop()
    },
  }
}

function startThread(order: ArchiveOrder): Worker {
  const thread = new Worker(new URL('archive-thread.ts', import.meta.url), {
    execArgv: [],
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MIB_MAX },
  })
  thread.unref()
  return thread
}

function report(logger: Logger, message: ArchiveMessage): void {
  if (message.kind === 'archived') {
    const { table, month, rows } = message
    logger.info({ table, month, rows }, 'month archived')
  } else if (message.kind === 'put_off') logger.info({ reason: message.reason }, 'month is archived later')
  else logger.warn({ reason: message.reason }, 'months could not be archived; trying again')
}
