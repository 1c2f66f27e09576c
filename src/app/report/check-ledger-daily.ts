import {
  claimLedgerCheck,
  noteFailedCheck,
  noteLedgerCheck,
  verifyLedger,
} from '../../modules/ledger/ledger.ts'
import type { Logger } from '../../kernel/logger.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Queryable } from '../../storage/database.ts'
import { repeat } from '../../storage/leased-work/repeat.ts'
import { messageOf } from '../../storage/storage-error.ts'

interface DailyCheckOptions {
  readonly database: Queryable
  readonly connectionString: string
  readonly everyMs: number
  readonly logger: Logger
  readonly lookMs?: number
}

const LOOK_MS = 15 * 60_000
/** Whole tables are summed up. */
const STATEMENT_MS_MAX = 600_000

/**
 * Checks the rules of the ledger now and then, in one of all processes, as `ledger verify` does. The result is in the database,
 * where the metrics and the doctor read it.
 */
export function checkLedgerDaily(options: DailyCheckOptions): { close(): Promise<void> } {
  const { database, everyMs, logger, lookMs = LOOK_MS } = options
  if (everyMs === 0) return { close: async () => {} }
  /** The session of a running check. */
  let pid: number | null = null
  let isClosing = false
  const check = async (): Promise<void> => {
    if (!(await claimLedgerCheck(database, everyMs))) return
    // A session of its own: a statement that reads a whole table may take longer than those of requests.
    const own = connectDatabase({
      connectionString: options.connectionString,
      poolSize: 1,
      statementTimeoutMs: STATEMENT_MS_MAX,
      logger,
    })
    try {
      pid = (await own.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid ?? null
      const broken = (await verifyLedger(own)).filter(({ differences }) => differences.length > 0)
      await noteLedgerCheck(own, broken.length)
      for (const { rule, differences } of broken)
        logger.error({ rule, differences: differences.length }, 'a rule of the ledger is broken')
    } catch (error) {
      if (!isClosing) await noteFailedCheck(database)
      throw error
    } finally {
      pid = null
      await own.close()
    }
  }
  const stop = repeat({
    pauseMs: lookMs,
    work: check,
    onFailure: (error) => logger.warn({ reason: messageOf(error) }, 'the ledger could not be checked'),
  })
  return {
    close: async () => {
      isClosing = true
      const stopped = stop()
      // A shutdown does not wait for whole tables.
      if (pid !== null) await database.query('SELECT pg_cancel_backend($1)', [pid]).catch(() => {})
      await stopped
    },
  }
}
