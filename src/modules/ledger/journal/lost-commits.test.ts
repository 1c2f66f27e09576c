import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../../../tests/support/eventually.ts'
import { silentLogger, type Logger } from '../../../kernel/logger.ts'
import { createLedgerStage, usageOf, type LedgerProcess, type LedgerStage } from '../testing/ledger-stage.ts'
import { PLAIN_CHARGE } from '../testing/plain-charge.ts'

let stage: LedgerStage

beforeAll(async () => {
  stage = await createLedgerStage()
})

afterAll(() => stage.close())

interface Watched extends LedgerProcess {
  readonly errors: { readonly message: string; readonly details: object }[]
  /** Makes one charge of a nano-dollar. */
  charge(): Promise<void>
}

async function startWatched(): Promise<Watched> {
  const errors: Watched['errors'] = []
  const logger: Logger = {
    ...silentLogger,
    error: (details: object, message: string) => void errors.push({ message, details }),
  }
  const process = await stage.createProcess({ logger })
  const payer = await stage.createPayer(1_000n)
  return {
    ...process,
    errors,
    charge: async () => {
      // Refused for a moment after a failover.
      const hold = await eventually(() =>
        process.ledger.hold(payer, { ...PLAIN_CHARGE, wantedNanoUsd: 1n, leastNanoUsd: 1n }),
      )
      await hold.settle({ costNanoUsd: 1n, record: usageOf(payer), isDelivered: false })
    },
  }
}

/** Ends all other sessions, as a failover does. */
async function failOver(): Promise<void> {
  await stage.database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
  )
}

test('a primary that lacks commits which were confirmed is told once, with what is lost', async () => {
  const watched = await startWatched()
  await watched.charge()
  await watched.charge()
  await watched.ledger.postCharges()
  const [position] = await stage.database.query<{ sequence: bigint }>(
    'UPDATE journal_positions SET sequence = sequence - 1 WHERE borrower_id = $1 RETURNING sequence',
    [watched.borrower.id],
  )
  await failOver()
  await watched.charge()
  await watched.charge()
  const lost = watched.errors.filter(({ message }) => message.includes('has lost charges'))
  expect(lost.map(({ details }) => details)).toEqual([
    { commits: 1, charges: 1, lastSequence: Number(position?.sequence) },
  ])
})

test('a failover that lost nothing is not told', async () => {
  const watched = await startWatched()
  await watched.charge()
  await failOver()
  await watched.charge()
  await eventually(() => watched.ledger.postCharges())
  await failOver()
  await watched.charge()
  expect(watched.errors.filter(({ message }) => message.includes('has lost charges'))).toEqual([])
})
