import { createId } from '../../../kernel/identifiers.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { connectDatabase } from '../../connection/connect-database.ts'
import type { Database } from '../../database.ts'
import { createMessageBus, type MessageBus } from '../../bus/message-bus.ts'
import { createTestDatabase } from '../../testing/test-database.ts'
import type { Borrower } from '../borrower.ts'

interface SlotProcess {
  readonly messageBus: MessageBus
  readonly borrower: Borrower
}

/** Processes on one database, each with a bus and a name of its own, that a test can declare dead. */
export interface SlotProcesses {
  readonly database: Database
  start(): Promise<SlotProcess>
  close(): Promise<void>
}

export async function startSlotProcesses(): Promise<SlotProcesses> {
  const testDatabase = await createTestDatabase()
  const { connectionString } = testDatabase
  const database = connectDatabase({ connectionString, poolSize: 4, statementTimeoutMs: 10_000 })
  const buses: MessageBus[] = []

  return {
    database,
    async start() {
      const messageBus = await createMessageBus({ connectionString, logger: silentLogger })
      const writer = buses.push(messageBus)
      return { messageBus, borrower: await register(database, writer) }
    },
    async close() {
      await Promise.all(buses.map((bus) => bus.close()))
      await database.close()
      await testDatabase.drop()
    },
  }
}

async function register(database: Database, writer: number): Promise<Borrower> {
  const handlers: (() => void)[] = []
  let id = createId()
  const insert = () =>
    database.query(
      `INSERT INTO borrowers (id, writer, expires_at) VALUES ($1, $2, now() + interval '1 hour')
       ON CONFLICT DO NOTHING`,
      [id, writer],
    )
  await insert()
  return {
    get id() {
      return id
    },
    writer,
    isTrusted: () => true,
    declareLost: async () => {
      id = createId()
      for (const handler of handlers) handler()
      await insert()
    },
    onLost: (handler) => void handlers.push(handler),
    close: async () => {},
  }
}

/** What another process does when this one stops renewing its lease. */
export async function declareDead(
  database: Database,
  borrowerId: string,
  reclaim: (transaction: Pick<Database, 'query'>, borrowerId: string) => Promise<void>,
): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query('UPDATE borrowers SET closed_at = now() WHERE id = $1', [borrowerId])
    await reclaim(transaction, borrowerId)
  })
}
