import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomShare } from '../../../../tests/support/random-share.ts'
import { createLedgerStage, usageOf, type LedgerStage } from '../testing/ledger-stage.ts'
import { PLAIN_CHARGE } from '../testing/plain-charge.ts'

let stage: LedgerStage

beforeAll(async () => {
  stage = await createLedgerStage()
})

afterAll(() => stage.close())

const CUTS_MAX = 15

/** Terminates committing sessions at random moments. Returns how many. */
async function cutCommits(over: AbortSignal): Promise<number> {
  let cuts = 0
  while (!over.aborted && cuts < CUTS_MAX) {
    await delay(randomShare() * 20)
    // The searched text is split, so that this statement does not match itself.
    const cut = await stage.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
         AND query LIKE '%INTO charge_journal' || ' (borrower_id%' AND state <> 'idle'`,
    )
    cuts += cut.length
  }
  return cuts
}

/** Delays commits by up to 10 ms, so that they can be cut while they run. */
async function slowCommitsDown(): Promise<void> {
  await stage.database.query(`
    CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_sleep(random() * 0.01);
      RETURN NULL;
    END $$`)
  await stage.database.query(
    'CREATE TRIGGER slow_commits AFTER INSERT ON charge_journal EXECUTE FUNCTION dawdle()',
  )
}

test('a commit is done exactly once, whenever its connection is cut', async () => {
  await slowCommitsDown()
  // A busy machine lets the same commit be cut every time; no answer is refused for that here.
  const process = await stage.createProcess({ commitWaitMs: 120_000 })
  const payer = await stage.createPayer(1_000_000n)
  const over = new AbortController()
  const cutting = cutCommits(over.signal)
  let charged = 0
  for (let round = 0; round < 60; round += 1) {
    const holds = await Promise.all(
      Array.from({ length: 10 }, async () =>
        process.ledger.hold(payer, { ...PLAIN_CHARGE, wantedNanoUsd: 7n, leastNanoUsd: 7n }),
      ),
    )
    const outcomes = await Promise.allSettled(
      holds.map((hold) => hold.settle({ costNanoUsd: 7n, record: usageOf(payer), isDelivered: false })),
    )
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([])
    charged += outcomes.length
  }
  over.abort()
  const cuts = await cutting
  expect(cuts).toBeGreaterThan(0)
  expect(await stage.sumOfCharges(payer.accountId)).toEqual({
    requests: charged,
    costNanoUsd: BigInt(charged) * 7n,
  })
  expect(await stage.findDifferences()).toEqual([])
})
