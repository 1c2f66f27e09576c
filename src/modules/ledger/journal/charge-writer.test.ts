import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { silentLogger, type Logger } from '../../../kernel/logger.ts'
import type { Hold, Payer } from '../ledger.ts'
import { createLedgerStage, usageOf, type LedgerProcess, type LedgerStage } from '../testing/ledger-stage.ts'
import { PLAIN_CHARGE } from '../testing/plain-charge.ts'

let stage: LedgerStage

beforeAll(async () => {
  stage = await createLedgerStage()
})

afterEach(async () => {
  expect(await stage.findDifferences()).toEqual([])
})

afterAll(() => stage.close())

const holdOf = async ({ ledger }: LedgerProcess, payer: Payer, wantedNanoUsd: bigint): Promise<Hold> =>
  ledger.hold(payer, { ...PLAIN_CHARGE, wantedNanoUsd, leastNanoUsd: wantedNanoUsd })

async function holdMany(process: LedgerProcess, payer: Payer, count: number, each: bigint): Promise<Hold[]> {
  const holds: Hold[] = []
  for (let index = 0; index < count; index += 1) holds.push(await holdOf(process, payer, each))
  return holds
}

const settle = (payer: Payer, hold: Hold, details: { isDelivered?: boolean; id?: string } = {}) =>
  hold.settle({
    costNanoUsd: hold.amountNanoUsd,
    record: usageOf(payer, details.id === undefined ? {} : { id: details.id }),
    isDelivered: details.isDelivered ?? false,
  })

const countCommits = async ({ borrower }: LedgerProcess): Promise<bigint> => {
  const [row] = await stage.database.query<{ commits: bigint }>(
    `SELECT sequence AS commits FROM charge_journal WHERE borrower_id = $1
     UNION ALL SELECT sequence FROM journal_positions WHERE borrower_id = $1 ORDER BY commits DESC`,
    [borrower.id],
  )
  return row?.commits ?? 0n
}

describe('a group commit', () => {
  test('includes all charges that end at the same time, with one entry per account', async () => {
    const process = await stage.createProcess()
    const payers = [await stage.createPayer(1_000n), await stage.createPayer(1_000n)]
    const held: [Payer, Hold][] = []
    for (const payer of payers) {
      for (const hold of await holdMany(process, payer, 50, 3n)) held.push([payer, hold])
    }
    await Promise.all(held.map(([payer, hold]) => settle(payer, hold)))
    expect(await countCommits(process)).toBe(1n)
    for (const { accountId } of payers) {
      expect(await stage.sumOfCharges(accountId)).toEqual({ requests: 50, costNanoUsd: 150n })
      const { items } = await process.ledger.listEntries(accountId, { limit: 5, afterId: null })
      expect(items.map(({ kind, amountNanoUsd }) => [kind, amountNanoUsd])).toEqual([
        ['charge', -150n],
        ['grant', 1_000n],
      ])
    }
  })

  test('has a maximum size; further charges go into the next commit', async () => {
    const process = await stage.createProcess()
    const payer = await stage.createPayer(10_000n)
    const holds = await holdMany(process, payer, 2_500, 1n)
    await Promise.all(holds.map((hold) => settle(payer, hold)))
    expect(await countCommits(process)).toBe(3n)
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 2_500, costNanoUsd: 2_500n })
  })

  test('is durable when a process that stops has closed its ledger', async () => {
    const process = await stage.createProcess()
    const payer = await stage.createPayer(100n)
    const settled = settle(payer, await holdOf(process, payer, 40n))
    await process.close()
    await settled
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 40n })
  })
})

/** The next commit is written, then the callback runs, then the connection breaks. */
function loseAnswerOfNextCommit(
  { database }: LedgerProcess,
  meanwhile: () => Promise<void> = async () => {},
): void {
  const keep = database.keepConnection.bind(database)
  const lose = vi.spyOn(database, 'keepConnection').mockImplementation(async () => {
    const connection = await keep()
    const write = async (sql: string, values: readonly string[]): Promise<never> => {
      await connection.write(sql, values)
      lose.mockRestore()
      await meanwhile()
      throw new Error('Connection terminated unexpectedly')
    }
    return { ...connection, write }
  })
}

test('a commit that was written although its response was lost is not sent again', async () => {
  const process = await stage.createProcess()
  const payer = await stage.createPayer(1_000n)
  loseAnswerOfNextCommit(process)
  await settle(payer, await holdOf(process, payer, 40n))
  expect(await countCommits(process)).toBe(1n)
  expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 40n })
})

test('charges that were never sent are not mistaken for those of the previous commit', async () => {
  const process = await stage.createProcess()
  const payer = await stage.createPayer(80n)
  const connection = { ...(await process.database.keepConnection()), isLost: false }
  const keep = vi.spyOn(process.database, 'keepConnection').mockResolvedValueOnce(connection)
  keep.mockRejectedValueOnce(new Error('Connection terminated unexpectedly'))
  await settle(payer, await holdOf(process, payer, 40n))
  connection.isLost = true
  await settle(payer, await holdOf(process, payer, 40n))
  expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 2, costNanoUsd: 80n })
})

describe('in a process that was declared dead', () => {
  test('unsent answers are refused and not charged', async () => {
    const process = await stage.createProcess()
    const payer = await stage.createPayer(100n)
    const hold = await holdOf(process, payer, 40n)
    await stage.declareDead(process.borrower.id)
    await expect(settle(payer, hold)).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 0, costNanoUsd: 0n })
    await settle(payer, await holdOf(process, payer, 100n))
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 100n })
  })

  test('delivered answers are charged again, each once', async () => {
    const process = await stage.createProcess()
    const payer = await stage.createPayer(100n)
    const holds = await holdMany(process, payer, 5, 10n)
    await stage.declareDead(process.borrower.id)
    await Promise.allSettled(holds.map((hold) => settle(payer, hold, { isDelivered: true })))
    // A normal stop waits for them.
    await process.close()
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 5, costNanoUsd: 50n })
  })

  test('a request that ends later is charged from newly borrowed credit', async () => {
    const process = await stage.createProcess()
    const payer = await stage.createPayer(100n)
    const early = await holdOf(process, payer, 40n)
    const late = await holdOf(process, payer, 30n)
    await stage.declareDead(process.borrower.id)
    await expect(settle(payer, early)).rejects.toMatchObject({ code: 'service_unavailable' })
    await settle(payer, late)
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 30n })
  })

  test('a commit that was written before counts, although its response was lost', async () => {
    const process = await stage.createProcess()
    const payer = await stage.createPayer(100n)
    const hold = await holdOf(process, payer, 40n)
    const dead = process.borrower.id
    loseAnswerOfNextCommit(process, async () => {
      await stage.declareDead(dead)
      await process.borrower.declareLost(dead)
    })
    await settle(payer, hold)
    expect(process.borrower.id).not.toBe(dead)
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 40n })
  })
})

describe('a charge that the database refuses', () => {
  test('is undone and logged, and its credit is free again', async () => {
    const errors: string[] = []
    const logger: Logger = { ...silentLogger, error: (_details, message) => void errors.push(message) }
    const process = await stage.createProcess({ logger })
    const payer = await stage.createPayer(100n)
    const hold = await holdOf(process, payer, 100n)
    await expect(settle(payer, hold, { id: 'not a uuid' })).rejects.toThrow('could not be written')
    expect(errors).toEqual(['charges could not be written'])
    await settle(payer, await holdOf(process, payer, 100n))
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 100n })
  })

  test('does not undo delivered charges, and no answer is both charged and refused', async () => {
    const process = await stage.createProcess({ logger: silentLogger })
    const payer = await stage.createPayer(1_000n)
    const [bad, delivered, waiting] = await holdMany(process, payer, 3, 10n)
    if (!bad || !delivered || !waiting) throw new Error('three were held')
    const outcomes = await Promise.allSettled([
      settle(payer, bad, { id: 'not a uuid' }),
      settle(payer, delivered, { isDelivered: true }),
      settle(payer, waiting),
    ])
    await process.close()
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 10n })
  })
})

describe('while the database is unavailable', () => {
  const away = (process: LedgerProcess) =>
    vi.spyOn(process.database, 'keepConnection').mockImplementation(async () => {
      throw Object.assign(new Error('too many connections'), { code: '53300' })
    })

  test('an answer waits for a limited time, then it is refused and not charged', async () => {
    const process = await stage.createProcess({ commitWaitMs: 20 })
    const payer = await stage.createPayer(100n)
    const hold = await holdOf(process, payer, 40n)
    const outage = away(process)
    const refusal = { code: 'service_unavailable', retryAfterSeconds: 2 }
    await expect(settle(payer, hold)).rejects.toMatchObject(refusal)
    outage.mockRestore()
    await process.ledger.recall(payer.accountId)
    expect(await process.ledger.readBalance(payer.accountId)).toMatchObject({ balanceNanoUsd: 100n })
    // Its credit is free when the writer has ended its pause.
    await settle(payer, await vi.waitFor(() => holdOf(process, payer, 100n), 60_000))
  })

  test('an answer queued behind a delivered one is refused in time', async () => {
    const process = await stage.createProcess({ commitWaitMs: 20 })
    const payer = await stage.createPayer(100n)
    const delivered = await holdOf(process, payer, 10n)
    const others = await holdMany(process, payer, 2, 10n)
    const outage = away(process)
    await expect(settle(payer, delivered, { isDelivered: true })).rejects.toThrow()
    const refused = others.map((hold) =>
      expect(settle(payer, hold)).rejects.toMatchObject({ retryAfterSeconds: 2 }),
    )
    await Promise.all(refused)
    outage.mockRestore()
    await process.close()
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 10n })
  })

  test('a delivered answer is charged when the database is back', async () => {
    const process = await stage.createProcess({ commitWaitMs: 20 })
    const payer = await stage.createPayer(100n)
    const hold = await holdOf(process, payer, 40n)
    const outage = away(process)
    await settle(payer, hold, { isDelivered: true }).catch(() => {})
    outage.mockRestore()
    await process.close()
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 40n })
  })
})

describe('while the database hangs', () => {
  /** Nothing that is sent is answered, until the connection is closed. */
  const hang = (process: LedgerProcess, { connects }: { connects: boolean }) => {
    const keep = process.database.keepConnection.bind(process.database)
    return vi.spyOn(process.database, 'keepConnection').mockImplementation(async () => {
      if (!connects) await new Promise(() => {})
      const connection = await keep()
      const { promise, reject } = Promise.withResolvers<never>()
      promise.catch(() => {})
      return {
        ...connection,
        write: () => promise,
        query: () => promise,
        release: (isBroken, isHanging) => {
          connection.release(isBroken, isHanging)
          reject(new Error('Connection terminated'))
        },
      }
    })
  }

  test.each([
    ['is told that its charge is unknown', { connects: true }, { mayBeDone: true }],
    ['is refused and not charged', { connects: false }, { mayBeDone: false, retryAfterSeconds: 2 }],
  ])('an answer waits for the limit and no longer, then it %s: %j', async (_promise, how, reason) => {
    const process = await stage.createProcess({ commitWaitMs: 400 })
    const payer = await stage.createPayer(100n)
    const holds = await holdMany(process, payer, 2, 10n)
    const outage = hang(process, how)
    const startedMs = performance.now()
    const [first, queued] = holds
    if (first === undefined || queued === undefined) throw new Error('there are no holds')
    const told = [expect(settle(payer, first)).rejects.toMatchObject(reason)]
    await new Promise(setImmediate)
    told.push(expect(settle(payer, queued)).rejects.toMatchObject({ code: 'service_unavailable' }))
    await Promise.all(told)
    // Far below the timeout of a statement, which would be fifteen seconds.
    expect(performance.now() - startedMs).toBeLessThan(5_000)
    outage.mockRestore()
  })

  test('an answer whose server hangs is charged by the server that took over, within the limit', async () => {
    const process = await stage.createProcess({ commitWaitMs: 20_000 })
    const payer = await stage.createPayer(100n)
    const hold = await holdOf(process, payer, 40n)
    const outage = hang(process, { connects: true })
    const settled = settle(payer, hold)
    await vi.waitFor(() => expect(outage).toHaveBeenCalled())
    outage.mockRestore()
    await settled
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 40n })
  })
})
