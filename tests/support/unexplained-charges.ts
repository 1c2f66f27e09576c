import { postCharges } from '../../src/modules/ledger/ledger.ts'
import { verifyPrices, type VerifiedPrices } from '../../src/modules/usage/usage.ts'
import type { Queryable } from '../../src/storage/database.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'

const DAY_MS = 86_400_000

/** Computes every charge of the database again from its price list. Returns those that differ, and how many there were. */
export async function findUnexplainedCharges(
  database: Queryable,
): Promise<{ unexplained: string[] } & Omit<VerifiedPrices, 'differing'>> {
  await postCharges(database)
  const unexplained: string[] = []
  const nowMs = Date.now()
  const { checked, withoutList, costs } = await verifyPrices(database, {
    range: { fromMs: nowMs - 400 * DAY_MS, toMs: nowMs + 400 * DAY_MS },
    onDifference: ({ id, problem }) => unexplained.push(`${id} ${problem}`),
  })
  return { unexplained, checked, withoutList, costs }
}

/** The same with a connection of its own. */
export async function explainCharges(connectionString: string) {
  const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 60_000 })
  try {
    return await findUnexplainedCharges(database)
  } finally {
    await database.close()
  }
}
