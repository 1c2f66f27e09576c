import { RECLAIMERS } from '../../src/app/build/build-tasks.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { createLedger } from '../../src/modules/ledger/ledger.ts'
import { createTaskChanges, createTaskQueue } from '../../src/modules/tasks/tasks.ts'
import { createBorrower } from '../../src/storage/borrowing/borrower.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { createMessageBus } from '../../src/storage/bus/message-bus.ts'
import { createWorker } from '../../src/worker/worker.ts'
import { createJobPerformer } from './job-performer.ts'

/** A worker in its own process, small enough to be restarted often. */
const [connectionString = '', upstreamUrl = '', lease = '2000', places = '25'] = process.argv.slice(2)
const leaseMs = Number(lease)

const logger = silentLogger
const database = connectDatabase({
  connectionString,
  poolSize: 4,
  statementTimeoutMs: 10_000,
  prepareStatements: true,
})
const messageBus = await createMessageBus({ connectionString, logger })
const borrower = await createBorrower({ database, logger, leaseMs, reclaimers: RECLAIMERS })
const ledger = createLedger({
  database,
  messageBus,
  borrower,
  clock: systemClock,
  logger,
  commitWaitMs: 10_000,
  observer: { committed: () => {}, failing: () => {}, lost: () => {} },
})
const worker = await createWorker({
  connectionString,
  queue: createTaskQueue({
    database,
    ledger,
    borrower,
    limits: { concurrentMax: null, concurrentMaxByProvider: new Map() },
    retentionMs: 86_400_000,
    changes: createTaskChanges({ messageBus, logger }),
    onUncovered: () => {},
    onCharged: () => {},
  }),
  performer: createJobPerformer(upstreamUrl),
  borrower,
  concurrency: Number(places),
  deliverWebhooks: async () => {},
  sweep: async () => {},
  clock: systemClock,
  logger,
})
process.stdout.write('{"ready":true}\n')

process.stdin.resume()
process.stdin.once('end', () => {
  void worker
    .close({ graceMs: 200 })
    .then(() => ledger.close())
    .then(() => borrower.close())
    .then(() => process.exit(0))
})
