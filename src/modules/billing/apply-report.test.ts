import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import { EMPTY_REPORT, type PaymentReport, type Reversal } from '../../payments/payment-provider.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Database } from '../../storage/database.ts'
import { createTestDatabase, type TestDatabase } from '../../storage/testing/test-database.ts'
import { applyReport, type ReportContext } from './apply-report.ts'
import { findCheckout, insertCheckout } from './checkout-record.ts'
import { insertPayment } from './payment-record.ts'

let testDatabase: TestDatabase
let database: Database
let accountId: string

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = connectDatabase({
    connectionString: testDatabase.connectionString,
    poolSize: 4,
    statementTimeoutMs: 5_000,
  })
  accountId = createId()
  await database.query(`INSERT INTO accounts (id, name) VALUES ($1, 'Ada')`, [accountId])
})

afterAll(async () => {
  await database.close()
  await testDatabase.drop()
})

const PAID: PaymentReport = { ...EMPTY_REPORT, state: 'paid', amountCents: 2000, currency: 'usd' }
const reversed = (reversal: Reversal): PaymentReport => ({ ...PAID, reversals: [reversal] })

/** Reports about two refunds and a dispute: their starts and, for some, their ends. */
const HISTORY: readonly PaymentReport[] = [
  PAID,
  { ...PAID, state: 'processing', amountCents: null },
  reversed({ kind: 'refund', id: 're_1', amountCents: 300, isReturned: false }),
  reversed({ kind: 'refund', id: 're_2', amountCents: 400, isReturned: false }),
  reversed({ kind: 'refund', id: 're_2', amountCents: 400, isReturned: true }),
  reversed({ kind: 'dispute', id: 'dp_1', amountCents: 500, isReturned: false }),
  reversed({ kind: 'dispute', id: 'dp_1', amountCents: 500, isReturned: true }),
]

test('reports in any order and number lead to the same credit and state', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray([...HISTORY], { minLength: HISTORY.length }),
      fc.array(fc.constantFrom(...HISTORY), { maxLength: 5 }),
      async (ordered, repeated) => {
        const { balance, status } = await play([...ordered, ...repeated])
        expect([balance, status]).toEqual([17_000_000_000n, 'partially_refunded'])
      },
    ),
    { numRuns: 60 },
  )
})

test('concurrent reports lead to the same credit and state too', async () => {
  const { balance, status } = await play([...HISTORY, ...HISTORY], { atOnce: true })
  expect([balance, status]).toEqual([17_000_000_000n, 'partially_refunded'])
})

async function play(
  reports: readonly PaymentReport[],
  { atOnce = false } = {},
): Promise<{ balance: bigint; status: string | undefined }> {
  const paymentId = await storeCheckout()
  const ledger = new CountingLedger()
  const context: ReportContext = { database, clock: systemClock, ledger, queueNotice: async () => {} }
  const apply = async (report: PaymentReport): Promise<void> => {
    const checkout = await findCheckout(database, 'fake', { paymentId })
    if (checkout === null) throw new Error('no checkout')
    // The provider's ids are unique, so each history needs its own ids.
    const reversals = report.reversals.map((reversal) => ({ ...reversal, id: `${reversal.id}:${paymentId}` }))
    await applyReport(context, checkout, { ...report, reversals })
  }
  if (atOnce) await Promise.all(reports.map(apply))
  else for (const report of reports) await apply(report)
  const checkout = await findCheckout(database, 'fake', { paymentId })
  return { balance: ledger.balance, status: checkout?.payment.status }
}

async function storeCheckout(): Promise<string> {
  const paymentId = createId()
  await insertPayment(database, {
    id: paymentId,
    accountId,
    kind: 'checkout',
    amountNanoUsd: 20_000_000_000n,
    status: 'pending',
    nowMs: Date.now(),
  })
  await insertCheckout(database, {
    paymentId,
    provider: 'fake',
    baseUrl: 'http://localhost',
    successUrl: null,
    cancelUrl: null,
    expiresAtMs: Date.now() + 60_000,
    checkAtMs: Date.now(),
  })
  return paymentId
}

/** A ledger without deduplication: it adds up all calls, so that a repeated call changes the balance. */
class CountingLedger implements Pick<ReportContext['ledger'], 'grant' | 'reverse'> {
  balance = 0n

  async grant(_: unknown, { amountNanoUsd }: { amountNanoUsd: bigint }): Promise<{ isNew: boolean }> {
    this.balance += amountNanoUsd
    return { isNew: true }
  }

  async reverse(
    _: unknown,
    { amountNanoUsd }: { amountNanoUsd: bigint },
  ): Promise<{ isNew: boolean; debtNanoUsd: bigint }> {
    this.balance -= amountNanoUsd
    return { isNew: true, debtNanoUsd: 0n }
  }

  async recall(): Promise<void> {}

  async announceChange(): Promise<void> {}
}
