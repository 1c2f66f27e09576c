import { expect, test } from 'vitest'
import { PARTITIONED_TABLES } from '../../../storage/partitions/partitioned-tables.ts'
import { arrangeOnce } from '../../../storage/partitions/testing/arrange-once.ts'
import { postCharges } from '../journal/post-charges.ts'
import { createLedgerStage, usageOf } from '../testing/ledger-stage.ts'
import { PLAIN_CHARGE } from '../testing/plain-charge.ts'
import { carryUsage } from './carry-usage.ts'

test('the ledger verifies by the sums of requests that are not kept any more, and finds changed ones', async () => {
  const stage = await createLedgerStage()
  try {
    const { ledger } = await stage.createProcess()
    const payer = await stage.createPayer(1_000n)
    const charge = async (costNanoUsd: bigint) => {
      const hold = await ledger.hold(payer, { ...PLAIN_CHARGE, wantedNanoUsd: 100n, leastNanoUsd: 100n })
      await hold.settle({
        costNanoUsd,
        record: usageOf(payer, { createdAtMs: Date.now() }),
        isDelivered: false,
      })
      await postCharges(stage.database)
    }
    await charge(80n)
    await charge(5n)
    await arrangeOnce(stage.connectionString, {
      tables: PARTITIONED_TABLES.filter(({ name }) => name === 'usage_records'),
      retentions: [
        {
          table: 'usage_records',
          keptSince: () => Infinity,
          keepSums: (partition) => carryUsage(partition, { isArchived: false }),
        },
      ],
    })
    expect(await stage.database.query('SELECT FROM usage_records')).toEqual([])
    await charge(3n)
    expect(await stage.findDifferences()).toEqual([])
    // Another partition with a name that one had before.
    await stage.database.query(`UPDATE usage_carried SET partition = 'usage_records_other'`)
    const other = { name: 'usage_records_other', rows: 'usage_records_other', untilMs: Date.now() }
    await stage.database.query(carryUsage(other, { isArchived: false }))
    await stage.database.query('DELETE FROM usage_records')
    expect(await stage.findDifferences()).toEqual([])
    await stage.database.query('UPDATE usage_carried SET cost_nano_usd = cost_nano_usd - 1')
    const account = `account ${payer.accountId}`
    expect(await stage.findDifferences()).toEqual([
      `every charge is a request, and every request is charged: ${account}: entries 88, requests 87`,
      `rollups are the sum of the requests: ${account}: 3 requests with 6 tokens for 87, rollups 3 with 6 for 88`,
    ])
  } finally {
    await stage.close()
  }
})
