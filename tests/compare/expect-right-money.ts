import { expect } from 'vitest'
import { postCharges, verifyLedger } from '../../src/modules/ledger/ledger.ts'
import type { Database } from '../../src/storage/database.ts'

/** Checks that the total charge of the account equals the cost of its cells, and that the ledger is consistent. */
export async function expectRightMoney(database: Database, accountId: string): Promise<void> {
  await postCharges(database)
  const [row] = await database.query<{ charged: bigint; cost: bigint }>(
    `SELECT (SELECT coalesce(sum(cost_nano_usd), 0) FROM usage_records WHERE account_id = $1)::bigint AS charged,
       (SELECT coalesce(sum(cell.cost_nano_usd), 0) FROM compare_cells AS cell
        JOIN compare_runs AS run ON run.id = cell.run_id WHERE run.account_id = $1)::bigint AS cost`,
    [accountId],
  )
  expect(row?.cost).toBe(row?.charged)
  expect((await verifyLedger(database)).flatMap(({ differences }) => differences)).toEqual([])
}
