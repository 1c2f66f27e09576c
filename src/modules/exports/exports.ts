import type { Logger } from '../../kernel/logger.ts'
import type { Borrower } from '../../storage/borrowing/borrower.ts'
import type { Database } from '../../storage/database.ts'
import { LeasedWork } from '../../storage/leased-work/leased-work.ts'
import { repeat } from '../../storage/leased-work/repeat.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { claimSink, findStandingSinks } from './claim-sink.ts'
import { registerSinks } from './register-sinks.ts'
import { SinkRun, type ExportCounts, type OpenedSink, type SinkRunOptions } from './sink-run.ts'
import { deleteConfirmed } from './sweep-exports.ts'

export { reclaimSinks } from './claim-sink.ts'
export { listSinks, type SinkState } from './list-sinks.ts'
export { sweepExports } from './sweep-exports.ts'
export type { OpenedSink } from './sink-run.ts'

export interface Exporter {
  start(): void
  wake(): void
  close(options: { graceMs: number }): Promise<void>
}

export interface ExporterOptions {
  readonly database: Database
  readonly borrower: Pick<Borrower, 'id' | 'onLost'>
  /** By name. Called for each claim, and again after a failure. */
  readonly sinks: ReadonlyMap<string, () => Promise<OpenedSink>>
  readonly counts: ExportCounts
  readonly logger: Logger
  readonly timing?: SinkRunOptions['timing']
}

const POLL_MS = 2_000
const STANDING_MS = 5_000
const REGISTER_MS = 10_000
const DELETE_MS = 10_000

/** Sends requests to the sinks of the settings, each from one process at a time, whichever has its claim. */
export function createExporter(options: ExporterOptions): Exporter {
  const { database, borrower, sinks, logger } = options
  const names = [...sinks.keys()]
  const runs = new LeasedWork<SinkRun>({
    name: 'exports',
    claim: async () => {
      const claimed = await claimSink(database, borrower.id, names)
      const open = sinks.get(claimed?.claim.name ?? '')
      return claimed === null || open === undefined ? [] : [new SinkRun(claimed, { ...options, open })]
    },
    concurrency: sinks.size,
    claimedAtOnceMax: 1,
    pollMs: POLL_MS,
    renewal: {
      everyMs: STANDING_MS,
      findLost: async (items) => {
        const standing = await findStandingSinks(
          database,
          items.map(({ claimed }) => claimed.claim),
        )
        return items.filter(({ claimed }) => !standing.has(claimed.claim.name))
      },
    },
    borrower,
    logger,
  })
  const warn = (error: unknown): void =>
    logger.warn({ reason: messageOf(error) }, 'exports could not be looked after')
  let stopRepeating: readonly (() => Promise<void>)[] = []
  return {
    start: () => {
      runs.start()
      const register = (): Promise<void> => registerSinks(database, names, logger)
      stopRepeating = [
        repeat({ pauseMs: REGISTER_MS, firstMs: 0, work: register, onFailure: warn }),
        repeat({ pauseMs: DELETE_MS, work: () => deleteConfirmed(database), onFailure: warn }),
      ]
    },
    wake: () => runs.wake(),
    close: async ({ graceMs }) => {
      await Promise.all([...stopRepeating.map((stop) => stop()), runs.close({ graceMs })])
    },
  }
}
