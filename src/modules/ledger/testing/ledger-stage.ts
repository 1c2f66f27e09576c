import { inspect } from 'node:util'
import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { createId } from '../../../kernel/identifiers.ts'
import { silentLogger, type Logger } from '../../../kernel/logger.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { createBorrower, type Borrower } from '../../../storage/borrowing/borrower.ts'
import { reclaimExpired } from '../../../storage/borrowing/reclaim.ts'
import { connectDatabase } from '../../../storage/connection/connect-database.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { createMessageBus } from '../../../storage/bus/message-bus.ts'
import { createTestDatabase } from '../../../storage/testing/test-database.ts'
import {
  createLedger,
  reclaimLeases,
  verifyLedger,
  type Ledger,
  type LedgerOptions,
  type Payer,
  type UsageRecord,
} from '../ledger.ts'
import { grantCredit } from '../books/move-credit.ts'
import { postCharges } from '../journal/post-charges.ts'

const LEASE_MS = 600_000

/** A ledger as one process has it. */
export interface LedgerProcess {
  readonly database: Database
  readonly ledger: Ledger
  readonly borrower: Borrower
  close(): Promise<void>
}

interface ProcessOptions {
  readonly leaseMs?: number
  readonly nowMs?: () => number
  readonly holdWaitMs?: number
  readonly commitWaitMs?: number
  readonly logger?: Logger
  /** Instead of connections and a bus of its own. */
  readonly shared?: { readonly database: Database; readonly messageBus: LedgerOptions['messageBus'] }
}

export interface LedgerStage {
  readonly database: Database
  readonly connectionString: string
  /** An account with so much paid credit, and a key of it without a cap. */
  createPayer(creditNanoUsd: NanoUsd): Promise<Payer>
  createProcess(options?: ProcessOptions): Promise<LedgerProcess>
  /** Takes back its leases, as if it had not renewed for too long. */
  declareDead(borrowerId: string): Promise<void>
  /** All differences that `verify` finds, and all errors logged since the last call. */
  findDifferences(): Promise<string[]>
  sumOfCharges(accountId: string): Promise<{ requests: number; costNanoUsd: NanoUsd }>
  close(): Promise<void>
}

export async function createLedgerStage(): Promise<LedgerStage> {
  const testDatabase = await createTestDatabase()
  const { connectionString } = testDatabase
  const database = connect(connectionString)
  const processes: LedgerProcess[] = []
  const defects: string[] = []
  // A logged error fails the test.
  const logger: Logger = {
    ...silentLogger,
    error: (details, message) => void defects.push(`${message}: ${inspect(details)}`),
  }
  return {
    database,
    connectionString,
    createPayer: async (creditNanoUsd) => {
      const accountId = createId()
      await database.query(`INSERT INTO accounts (id, name) VALUES ($1, 'payer')`, [accountId])
      await database.query('INSERT INTO credit_accounts (account_id) VALUES ($1)', [accountId])
      const payer = { accountId, keyId: createId(), limitNanoUsd: null }
      if (creditNanoUsd > 0n)
        await database.transaction((transaction) => grant(transaction, payer, creditNanoUsd))
      return payer
    },
    createProcess: async (options = {}) => {
      const process = await createProcess(connectionString, { logger, ...options })
      processes.push(process)
      return process
    },
    declareDead: async (borrowerId) => {
      const sql = `UPDATE borrowers SET expires_at = now() - interval '1 second' WHERE id = $1`
      await database.query(sql, [borrowerId])
      await reclaimExpired({ database, logger: silentLogger, reclaimers: [reclaimLeases] })
    },
    findDifferences: async () => [
      ...defects.splice(0),
      ...(await verifyLedger(database)).flatMap(({ rule, differences }) =>
        differences.map((difference) => `${rule}: ${difference}`),
      ),
    ],
    sumOfCharges: async (accountId) => {
      await postCharges(database)
      const [row] = await database.query<{ requests: bigint; cost: bigint }>(
        `SELECT count(*) AS requests, coalesce(sum(cost_nano_usd), 0)::bigint AS cost FROM usage_records
         WHERE account_id = $1`,
        [accountId],
      )
      return { requests: Number(row?.requests ?? 0), costNanoUsd: row?.cost ?? 0n }
    },
    close: async () => {
      for (const process of processes) await process.close()
      await database.close()
      await testDatabase.drop()
    },
  }
}

export function usageOf(payer: Payer, overrides: Partial<UsageRecord> = {}): UsageRecord {
  return {
    id: createId().replaceAll('-', ''),
    accountId: payer.accountId,
    keyId: payer.keyId,
    environment: 'test',
    operation: 'chat',
    model: 'a "model" \\ with odd, {letters}',
    provider: 'sandbox',
    outcome: 'completed',
    promptTokens: 1,
    cachedTokens: 0,
    completionTokens: 1,
    reasoningTokens: 0,
    latencyMs: 5,
    firstTokenMs: null,
    createdAtMs: Date.UTC(2030, 0, 1),
    ...overrides,
  }
}

function grant(transaction: Queryable, { accountId }: Payer, amountNanoUsd: NanoUsd) {
  const key = `test:${accountId}`
  return grantCredit(transaction, {
    key,
    accountId,
    amountNanoUsd,
    class: 'paid',
    book: 'cash',
    reason: 'test',
  })
}

async function createProcess(
  connectionString: string,
  options: ProcessOptions & { readonly logger: Logger },
): Promise<LedgerProcess> {
  const { leaseMs = LEASE_MS, nowMs = () => Date.UTC(2030, 0, 1), commitWaitMs = 10_000 } = options
  const { logger, holdWaitMs } = options
  const { database, messageBus, disconnect } = await connectProcess(connectionString, options)
  const borrower = await createBorrower({ database, logger, leaseMs, reclaimers: [reclaimLeases] })
  const ledger = createLedger({
    database,
    messageBus,
    borrower,
    clock: fakeClock(nowMs),
    logger,
    commitWaitMs,
    ...(holdWaitMs === undefined ? {} : { holdWaitMs }),
    observer: { committed: () => {}, failing: () => {}, lost: () => {} },
  })
  let isClosed = false
  return {
    database,
    ledger,
    borrower,
    close: async () => {
      if (isClosed) return
      isClosed = true
      await ledger.close()
      await borrower.close()
      await disconnect()
    },
  }
}

async function connectProcess(
  connectionString: string,
  { logger, shared }: ProcessOptions & { readonly logger: Logger },
) {
  if (shared) return { ...shared, disconnect: async () => {} }
  const database = connect(connectionString)
  const messageBus = await createMessageBus({ connectionString, logger })
  const disconnect = async () => {
    await messageBus.close()
    await database.close()
  }
  return { database, messageBus, disconnect }
}

function connect(connectionString: string): Database {
  return connectDatabase({
    connectionString,
    poolSize: 4,
    statementTimeoutMs: 10_000,
    prepareStatements: true,
  })
}
