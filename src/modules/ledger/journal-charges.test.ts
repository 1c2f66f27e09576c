import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createId } from '../../kernel/identifiers.ts'
import type { KeptConnection } from '../../storage/database.ts'
import { hasArrived, journalCharges } from './journal-charges.ts'
import { postCharges } from './post-charges.ts'
import { createLedgerStage, usageOf, type LedgerStage } from './testing/ledger-stage.ts'

let stage: LedgerStage
let connection: KeptConnection

beforeAll(async () => {
  stage = await createLedgerStage()
  connection = await stage.database.keepConnection()
})

afterAll(async () => {
  connection.release(false)
  await stage.close()
})

async function registerBorrower(): Promise<string> {
  const { borrower } = await stage.createProcess()
  return borrower.id
}

/** Free, so that no lease has to pay for it. */
function commitOf(borrowerId: string, sequence: number) {
  const payer = { accountId: createId(), keyId: createId(), limitNanoUsd: null }
  const charge = { record: usageOf(payer), costNanoUsd: 0n, promotionalNanoUsd: 0n, parts: [] }
  return { borrowerId, sequence, charges: [charge] }
}

describe('a commit whose answer was lost', () => {
  test('has arrived when it is in the journal, and still when it is posted', async () => {
    const commit = commitOf(await registerBorrower(), 1)
    expect(await journalCharges(connection, commit)).toBe(true)
    expect(await hasArrived(stage.database, commit)).toBe(true)
    await postCharges(stage.database, { borrowerId: commit.borrowerId })
    expect(await hasArrived(stage.database, commit)).toBe(true)
  })

  test('is not written any more once it was found missing, however late it comes', async () => {
    const borrowerId = await registerBorrower()
    const late = commitOf(borrowerId, 1)
    expect(await hasArrived(stage.database, late)).toBe(false)
    expect(await journalCharges(connection, late)).toBe(false)
    expect(await journalCharges(connection, { ...late, sequence: 2 })).toBe(true)
    expect(await hasArrived(stage.database, { borrowerId, sequence: 2 })).toBe(true)
  })

  test('is waited for while it is being written', async () => {
    const commit = commitOf(await registerBorrower(), 1)
    await connection.query('BEGIN')
    expect(await journalCharges(connection, commit)).toBe(true)
    const looking = hasArrived(stage.database, commit)
    await expect.poll(countWaitingForLocks).toBe(1)
    await connection.query('COMMIT')
    expect(await looking).toBe(true)
  })

  test('is found though its process was taken for dead', async () => {
    const commit = commitOf(await registerBorrower(), 1)
    expect(await journalCharges(connection, commit)).toBe(true)
    await stage.declareDead(commit.borrowerId)
    expect(await hasArrived(stage.database, commit)).toBe(true)
    expect(await journalCharges(connection, { ...commit, sequence: 2 })).toBe(false)
  })
})

async function countWaitingForLocks(): Promise<number> {
  const waiting = await stage.database.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  )
  return waiting.length
}
