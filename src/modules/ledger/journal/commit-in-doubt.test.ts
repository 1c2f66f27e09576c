import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createLedgerStage, usageOf, type LedgerProcess, type LedgerStage } from '../testing/ledger-stage.ts'
import { PLAIN_CHARGE } from '../testing/plain-charge.ts'

let stage: LedgerStage

beforeAll(async () => {
  stage = await createLedgerStage()
})

afterEach(async () => {
  vi.restoreAllMocks()
  expect(await stage.findDifferences()).toEqual([])
})

afterAll(() => stage.close())

/** Loses the response of the next commit, written or not; then the database is unavailable until released. */
function loseDatabase({ database }: LedgerProcess, { arrives }: { arrives: boolean }): () => void {
  const keep = database.keepConnection.bind(database)
  let isAway = false
  const lost = () => new Error('Connection terminated unexpectedly')
  const spy = vi.spyOn(database, 'keepConnection').mockImplementation(async () => {
    if (isAway) throw lost()
    const connection = await keep()
    const write = async (sql: string, values: readonly string[]): Promise<never> => {
      if (arrives) await connection.write(sql, values)
      isAway = true
      throw lost()
    }
    return { ...connection, write }
  })
  return () => spy.mockRestore()
}

describe('a commit with an unknown outcome', () => {
  test.each([
    { arrives: true, requests: 2, costNanoUsd: 50n, left: 50n },
    { arrives: false, requests: 1, costNanoUsd: 10n, left: 90n },
  ])(
    'is waited for a limited time, then clients are told that it is unknown: arrived $arrives',
    async ({ arrives, requests, costNanoUsd, left }) => {
      const process = await stage.createProcess({ commitWaitMs: 100 })
      const payer = await stage.createPayer(100n)
      const hold = (wantedNanoUsd: bigint) =>
        process.ledger.hold(payer, { ...PLAIN_CHARGE, wantedNanoUsd, leastNanoUsd: wantedNanoUsd })
      const [whole, streamed] = [await hold(40n), await hold(10n)]
      const comeBack = loseDatabase(process, { arrives })
      const settled = await Promise.allSettled([
        whole.settle({ costNanoUsd: 40n, record: usageOf(payer), isDelivered: false }),
        streamed.settle({ costNanoUsd: 10n, record: usageOf(payer), isDelivered: true }),
      ])
      for (const outcome of settled)
        expect(outcome).toMatchObject({
          status: 'rejected',
          reason: { code: 'service_unavailable', mayBeDone: true, retryAfterSeconds: null },
        })
      expect(String(settled[0].status === 'rejected' && settled[0].reason)).toMatch(
        /may have been.*request_id.*Idempotency-Key/,
      )
      comeBack()
      // Delivered answers are charged in the end; unsent ones only if the commit was written.
      await vi.waitFor(
        async () => {
          expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests, costNanoUsd })
          expect(process.ledger.isHealthy()).toBe(true)
        },
        { timeout: 60_000 },
      )
      const rest = await hold(left)
      await rest.settle({ costNanoUsd: left, record: usageOf(payer), isDelivered: false })
      expect(await process.ledger.readBalance(payer.accountId)).toMatchObject({ balanceNanoUsd: 0n })
    },
  )
})
