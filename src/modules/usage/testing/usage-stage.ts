import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { connectDatabase } from '../../../storage/connection/connect-database.ts'
import type { Database } from '../../../storage/database.ts'
import { createTestDatabase } from '../../../storage/testing/test-database.ts'
import { createUsage, type CreditReader, type Usage } from '../usage.ts'

export interface UsageStage {
  readonly connectionString: string
  readonly database: Database
  readonly usage: Usage
  /** All statements that the module sent. */
  readonly statements: { sql: string; values: readonly unknown[] }[]
  nowMs: number
  balanceNanoUsd: NanoUsd
  heldNanoUsd: NanoUsd
  budgets: Awaited<ReturnType<CreditReader['readBudgets']>>
  limiting: Awaited<ReturnType<CreditReader['readLimitingBudgets']>>
  addAccount(name?: string): Promise<string>
  close(): Promise<void>
}

/** Creates the module, by default on a new database, with a clock and credit that a test controls. */
export async function setUsageStage(existing?: string): Promise<UsageStage> {
  const testDatabase = existing === undefined ? await createTestDatabase() : null
  const connectionString = existing ?? testDatabase?.connectionString ?? ''
  const database = connectDatabase({
    connectionString,
    poolSize: 4,
    statementTimeoutMs: 30_000,
  })
  const statements: UsageStage['statements'] = []
  const recording: Database = {
    transaction: (work) => database.transaction(work),
    keepConnection: () => database.keepConnection(),
    ping: () => database.ping(),
    close: () => database.close(),
    query: (sql, values = []) => {
      statements.push({ sql, values })
      return database.query(sql, values)
    },
  }
  const stage: UsageStage = {
    connectionString,
    database,
    statements,
    nowMs: Date.parse('2026-11-15T12:34:56.789Z'),
    balanceNanoUsd: 0n,
    heldNanoUsd: 0n,
    budgets: [],
    limiting: [],
    usage: createUsage({
      logger: silentLogger,
      database: recording,
      clock: fakeClock(() => stage.nowMs),
      ledger: {
        readBalance: async () => stage,
        readBudgets: async () => stage.budgets,
        readLimitingBudgets: async () => stage.limiting,
        postCharges: async () => {},
      },
    }),
    addAccount: async (name = 'Ada') => {
      const id = createId()
      await database.query('INSERT INTO accounts (id, name) VALUES ($1, $2)', [id, name])
      return id
    },
    close: async () => {
      await database.close()
      await testDatabase?.drop()
    },
  }
  return stage
}
