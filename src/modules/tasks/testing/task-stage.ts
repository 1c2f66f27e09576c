import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { createId, createRequestId } from '../../../kernel/identifiers.ts'
import { createSealer } from '../../../kernel/seal-text.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { noQuota } from '../../../storage/stored-bytes/stored-bytes.ts'
import { createBorrower, type Borrower } from '../../../storage/borrowing/borrower.ts'
import { connectDatabase } from '../../../storage/connection/connect-database.ts'
import type { Database } from '../../../storage/database.ts'
import { createMessageBus, type MessageBus } from '../../../storage/bus/message-bus.ts'
import { createTestDatabase } from '../../../storage/testing/test-database.ts'
import type { Caller } from '../../keys/keys.ts'
import { createLedger, reclaimLeases, verifyLedger, type Ledger } from '../../ledger/ledger.ts'
import {
  createTaskChanges,
  createTaskQueue,
  createTasks,
  reclaimTasks,
  type TaskLimits,
  type TaskOrder,
  type TaskQueue,
  type Tasks,
  createWebhookSecrets,
} from '../tasks.ts'

/** The task parts of one process, with the parts they depend on. */
export interface TaskStage {
  readonly database: Database
  readonly messageBus: MessageBus
  readonly connectionString: string
  readonly ledger: Ledger
  readonly borrower: Borrower
  readonly tasks: Tasks
  readonly queue: TaskQueue
  createQueue(limits?: Partial<TaskLimits>): TaskQueue
  /** Creates an account with this credit and a key. */
  createCaller(creditUsd: number, key?: Partial<Caller>): Promise<Caller>
  /** Returns all violations of the ledger's invariants. */
  findDifferences(): Promise<string[]>
  close(): Promise<void>
}

const LEASE_MS = 600_000
const DAY_MS = 86_400_000
const DOLLAR = 1_000_000_000
const NO_LIMITS: TaskLimits = { concurrentMax: null, concurrentMaxByProvider: new Map() }

/** Creates a database of its own, unless it is given one. */
export async function createTaskStage(
  options: { connectionString?: string; isCancelBilled?: (provider: string) => boolean } = {},
): Promise<TaskStage> {
  const testDatabase = options.connectionString === undefined ? await createTestDatabase() : null
  const connectionString = options.connectionString ?? testDatabase?.connectionString ?? ''
  const database = connectDatabase({
    connectionString,
    poolSize: 8,
    statementTimeoutMs: 10_000,
    prepareStatements: true,
  })
  const logger = silentLogger
  const clock = fakeClock(() => Date.now())
  const messageBus = await createMessageBus({ connectionString, logger })
  const reclaimers = [reclaimTasks, reclaimLeases]
  const borrower = await createBorrower({ database, logger, leaseMs: LEASE_MS, reclaimers })
  const ledger = createLedger({
    database,
    messageBus,
    borrower,
    clock,
    logger,
    commitWaitMs: 10_000,
    observer: { committed: () => {}, failing: () => {}, lost: () => {} },
  })
  const changes = createTaskChanges({ messageBus, logger })
  const tasks = createTasks({
    database,
    messageBus,
    ledger,
    media: { addressOf: ({ id }) => `https://media.test/${id}` },
    clock,
    logger,
    retentionMs: 30 * DAY_MS,
    addressMs: DAY_MS,
    webhookHosts: {
      isAllowed: ({ hostname }) => hostname === '127.0.0.1',
      requirePublic: async () => undefined,
    },
    webhookSecrets: createWebhookSecrets({ database, sealer: createSealer('a key') }),
    writer: borrower.writer,
    isCancelBilled: options.isCancelBilled ?? (() => false),
    providerOf: (model) => model.split('/')[0] ?? null,
    quotaOf: noQuota,
  })
  const createQueue = (limits: Partial<TaskLimits> = {}): TaskQueue =>
    createTaskQueue({
      database,
      ledger,
      borrower,
      limits: { ...NO_LIMITS, ...limits },
      retentionMs: 30 * DAY_MS,
      changes,
      onUncovered: () => {},
      onCharged: () => {},
    })
  return {
    database,
    messageBus,
    connectionString,
    ledger,
    borrower,
    tasks,
    queue: createQueue(),
    createQueue,
    createCaller: async (creditUsd, key = {}) => {
      const accountId = createId()
      await database.query(`INSERT INTO accounts (id, name) VALUES ($1, 'caller')`, [accountId])
      if (creditUsd > 0) {
        await database.transaction((transaction) =>
          ledger.grant(transaction, {
            key: `test:${accountId}`,
            accountId,
            amountNanoUsd: BigInt(Math.round(creditUsd * DOLLAR)),
            class: 'paid',
            book: 'cash',
            reason: 'test',
          }),
        )
      }
      return {
        accountId,
        keyId: createId(),
        environment: 'test',
        scopes: new Set(['inference']),
        projectId: null,
        groupIds: [],
        permissions: new Set(),
        allowedModels: null,
        requestsPerMinute: null,
        limitNanoUsd: null,
        ...key,
      }
    },
    findDifferences: async () =>
      (await verifyLedger(database)).flatMap(({ rule, differences }) =>
        differences.map((difference) => `${rule}: ${difference}`),
      ),
    close: async () => {
      await tasks.close()
      await ledger.close()
      await borrower.close()
      await messageBus.close()
      await database.close()
      await testDatabase?.drop()
    },
  }
}

/** An order for a video with a hold of one cent. */
export function orderOf(caller: Caller, overrides: Partial<TaskOrder> = {}): TaskOrder {
  return {
    caller,
    requestId: createRequestId(Date.now()),
    type: 'video',
    model: 'maker/video',
    requestedModel: 'video',
    work: { prompt: 'a boat' },
    holdNanoUsd: 10_000_000n,
    expectedMs: 60_000,
    webhookUrl: null,
    metadata: null,
    ...overrides,
  }
}

export function outcomeOf(costNanoUsd = 4_000_000n) {
  return {
    status: 'completed',
    result: { data: [{ media_id: 'm1' }, { media_id: 'm2', revised_prompt: 'a red boat' }] },
    usage: { seconds: 5 },
    costNanoUsd,
    provider: 'maker',
  } as const
}
