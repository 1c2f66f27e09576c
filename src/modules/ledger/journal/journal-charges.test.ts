import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import type { KeptConnection } from '../../../storage/database.ts'
import { closeJournal, findOutcome, journalCharges } from './journal-charges.ts'
import { postCharges } from './post-charges.ts'
import { createLedgerStage, usageOf, type LedgerStage } from '../testing/ledger-stage.ts'

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

/** A charge of zero, so that no lease is needed. */
function commitOf(borrowerId: string, sequence: number) {
  const payer = { accountId: createId(), keyId: createId(), limitNanoUsd: null }
  const charge = { record: usageOf(payer), costNanoUsd: 0n, promotionalNanoUsd: 0n, parts: [] }
  return { borrowerId, sequence, charges: [charge] }
}

describe('a commit whose response was lost', () => {
  test('counts as written while it is in the journal and after it is posted', async () => {
    const commit = commitOf(await registerBorrower(), 1)
    expect(await journalCharges(connection, commit)).toBe(true)
    expect(await findOutcome(stage.database, commit)).toBe('written')
    await postCharges(stage.database, { borrowerId: commit.borrowerId })
    expect(await findOutcome(stage.database, commit)).toBe('written')
  })

  test('cannot be written after it was found missing, however late it arrives', async () => {
    const borrowerId = await registerBorrower()
    const late = commitOf(borrowerId, 1)
    expect(await findOutcome(stage.database, late)).toBe('ruled out')
    expect(await journalCharges(connection, late)).toBe(false)
    expect(await journalCharges(connection, { ...late, sequence: 2 })).toBe(true)
    expect(await findOutcome(stage.database, { borrowerId, sequence: 2 })).toBe('written')
  })

  test('is waited for while it is running', async () => {
    const commit = commitOf(await registerBorrower(), 1)
    await connection.query('BEGIN')
    expect(await journalCharges(connection, commit)).toBe(true)
    const looking = findOutcome(stage.database, commit)
    await expect.poll(countWaitingForLocks).toBe(1)
    await connection.query('COMMIT')
    expect(await looking).toBe('written')
  })

  test('is found even if its process was declared dead', async () => {
    const commit = commitOf(await registerBorrower(), 1)
    expect(await journalCharges(connection, commit)).toBe(true)
    await stage.declareDead(commit.borrowerId)
    expect(await findOutcome(stage.database, commit)).toBe('written')
    expect(await journalCharges(connection, { ...commit, sequence: 2 })).toBe(false)
    expect(await findOutcome(stage.database, { ...commit, sequence: 2 })).toBe('closed')
  })
})

describe('a process that is closed', () => {
  test('commits nothing more, however many of its commits were posted, lost and ruled out', async () => {
    const borrowerId = await registerBorrower()
    const commit = (sequence: number) => journalCharges(connection, commitOf(borrowerId, sequence))
    expect(await commit(1)).toBe(true)
    await postCharges(stage.database, { borrowerId })
    expect(await commit(2)).toBe(true)
    expect(await findOutcome(stage.database, { borrowerId, sequence: 3 })).toBe('ruled out')
    await stage.declareDead(borrowerId)
    expect(await commit(4)).toBe(false)
  })

  test('is not closed before its running commit ends', async () => {
    const borrowerId = await registerBorrower()
    await connection.query('BEGIN')
    expect(await journalCharges(connection, commitOf(borrowerId, 1))).toBe(true)
    const closing = stage.database.transaction((transaction) => closeJournal(transaction, borrowerId))
    await expect.poll(countWaitingForLocks).toBe(1)
    await connection.query('COMMIT')
    await closing
    expect(await findOutcome(stage.database, { borrowerId, sequence: 1 })).toBe('written')
    expect(await journalCharges(connection, commitOf(borrowerId, 2))).toBe(false)
  })

  test('makes a commit wait that arrives during the closing', async () => {
    const commit = commitOf(await registerBorrower(), 1)
    const closing = Promise.withResolvers<void>()
    const closed = stage.database.transaction(async (transaction) => {
      await closeJournal(transaction, commit.borrowerId)
      await closing.promise
    })
    // The number is taken as soon as the row exists, even before its transaction commits.
    await expect.poll(countIdleInTransaction).toBe(1)
    const late = journalCharges(connection, commit)
    await expect.poll(countWaitingForLocks).toBe(1)
    closing.resolve()
    await closed
    expect(await late).toBe(false)
  })
})

const countWaitingForLocks = () => countSessions("wait_event_type = 'Lock'")

const countIdleInTransaction = () =>
  countSessions("state = 'idle in transaction' AND query LIKE '%charge_journal%'")

async function countSessions(condition: string): Promise<number> {
  const sessions = await stage.database.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND ${condition}`,
  )
  return sessions.length
}
