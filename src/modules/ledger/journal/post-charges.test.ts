import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import { silentLogger, type Logger } from '../../../kernel/logger.ts'
import { postCharges, type Hold, type Payer } from '../ledger.ts'
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

const hold = async ({ ledger }: LedgerProcess, payer: Payer, amountNanoUsd: bigint): Promise<Hold> =>
  ledger.hold(payer, { ...PLAIN_CHARGE, wantedNanoUsd: amountNanoUsd, leastNanoUsd: amountNanoUsd })

const requestId = () => createId().replaceAll('-', '')

async function spend(process: LedgerProcess, payer: Payer, amountNanoUsd: bigint, id = requestId()) {
  const held = await hold(process, payer, amountNanoUsd)
  await held.settle({ costNanoUsd: amountNanoUsd, record: usageOf(payer, { id }), isDelivered: false })
}

const countWaiting = async (): Promise<number> =>
  (await stage.database.query('SELECT FROM charge_journal WHERE charges IS NOT NULL AND refusal IS NULL'))
    .length

describe('what was charged', () => {
  test('can be read at once, by any process', async () => {
    const [one, other] = [await stage.createProcess(), await stage.createProcess()]
    const payer = await stage.createPayer(1_000n)
    for (const [spent, left] of [
      [100n, 900n],
      [30n, 870n],
    ] as const) {
      await spend(one, payer, spent)
      expect(await other.ledger.readBalance(payer.accountId)).toMatchObject({ balanceNanoUsd: left })
    }
    const { items } = await other.ledger.listEntries(payer.accountId, { limit: 5, afterId: null })
    expect(items.map(({ amountNanoUsd }) => amountNanoUsd)).toEqual([-30n, -100n, 1_000n])
  })

  test('is posted a moment later even without a reader', async () => {
    const process = await stage.createProcess()
    await spend(process, await stage.createPayer(1_000n), 10n)
    await expect.poll(countWaiting).toBe(0)
  })

  test('is owed together with its charge, and free credit pays it first', async () => {
    const [dying, other] = [await stage.createProcess(), await stage.createProcess()]
    const payer = await stage.createPayer(1_000n)
    const held = await hold(dying, payer, 1_000n)
    const record = usageOf(payer, { id: requestId() })
    const [costNanoUsd, uncoveredNanoUsd, owedNanoUsd] = [1_000n, 500n, 300n]
    await held.settle({ costNanoUsd, uncoveredNanoUsd, owedNanoUsd, record, isDelivered: false })
    // Nothing but the journal knows of it, as after a crash.
    await postCharges(stage.database)
    await postCharges(stage.database)
    expect(await other.ledger.readBalance(payer.accountId)).toMatchObject({ balanceNanoUsd: -300n })
    await expect(hold(other, payer, 1n)).rejects.toMatchObject({ code: 'insufficient_balance' })
    const order = { key: `grant-${payer.accountId}`, accountId: payer.accountId, amountNanoUsd: 1_000n }
    const granted = { ...order, class: 'paid', book: 'cash', reason: 'paid' } as const
    await stage.database.transaction((transaction) => other.ledger.grant(transaction, granted))
    await other.ledger.announceChange(payer.accountId)
    const next = await hold(other, payer, 700n)
    next.release()
    expect(await other.ledger.readBalance(payer.accountId)).toMatchObject({ balanceNanoUsd: 700n })
  })

  test('is posted once by concurrent postings', async () => {
    const processes = await Promise.all([1, 2, 3].map(() => stage.createProcess()))
    const payers = await Promise.all([1, 2, 3].map(() => stage.createPayer(1_000_000n)))
    const spending = processes.flatMap((process) =>
      payers.flatMap((payer) => Array.from({ length: 40 }, () => spend(process, payer, 3n))),
    )
    const posting = Array.from({ length: 30 }, () => postCharges(stage.database))
    await Promise.all([...spending, ...posting])
    for (const { accountId } of payers) {
      expect(await stage.sumOfCharges(accountId)).toEqual({ requests: 120, costNanoUsd: 360n })
    }
  })

  test('is posted later, and not refused, while the table of requests that is moved takes none of that time', async () => {
    const process = await stage.createProcess()
    const payer = await stage.createPayer(1_000n)
    await stage.database.query(
      `ALTER TABLE usage_records ADD CONSTRAINT usage_records_before_limit CHECK (id < '${createId(0)}') NOT VALID`,
    )
    await spend(process, payer, 10n)
    await expect(postCharges(stage.database)).rejects.toThrow('usage_records_before_limit')
    await stage.database.query('ALTER TABLE usage_records DROP CONSTRAINT usage_records_before_limit')
    await postCharges(stage.database)
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 10n })
  })

  test('is posted with its exact names, whatever characters they have', async () => {
    const process = await stage.createProcess()
    const payer = await stage.createPayer(1_000n)
    const model = 'a "b"; (c, d) {e} \\ ünï;\n'
    const held = await hold(process, payer, 10n)
    await held.settle({ costNanoUsd: 10n, record: usageOf(payer, { model }), isDelivered: false })
    await spend(process, payer, 1n)
    await postCharges(stage.database)
    const rows = await stage.database.query<{ model: string }>(
      'SELECT model FROM usage_records WHERE account_id = $1 AND cost_nano_usd = 10',
      [payer.accountId],
    )
    expect(rows).toEqual([{ model }])
  })

  test('in one commit under many names and in several hours is added up for each', async () => {
    const process = await stage.createProcess()
    const payers = [await stage.createPayer(1_000n), await stage.createPayer(1_000n)]
    const midnightMs = Date.UTC(2026, 0, 1)
    const settling: Promise<unknown>[] = []
    for (const payer of payers) {
      for (const model of ['one', 'oth\u001Fe\0r']) {
        for (const createdAtMs of [midnightMs - 1, midnightMs, midnightMs - 1, midnightMs - 1]) {
          const held = await hold(process, payer, 7n)
          const record = usageOf(payer, { model, createdAtMs, promptTokens: Number.MAX_SAFE_INTEGER })
          settling.push(held.settle({ costNanoUsd: 7n, record, isDelivered: false }))
        }
      }
    }
    await Promise.all(settling)
    await postCharges(stage.database)
    const rows = await stage.database.query(
      `SELECT model, hour, requests, prompt_tokens AS tokens FROM usage_rollups WHERE account_id = $1 ORDER BY model, hour`,
      [payers[1]?.accountId],
    )
    const most = BigInt(Number.MAX_SAFE_INTEGER)
    expect(rows).toEqual(
      ['one', 'oth\uFFFDe\uFFFDr'].toSorted().flatMap((model) => [
        { model, hour: new Date(midnightMs - 3_600_000), requests: 3n, tokens: 3n * most },
        { model, hour: new Date(midnightMs), requests: 1n, tokens: most },
      ]),
    )
  })

  test('what was charged by a dead process is posted before its leases are taken back', async () => {
    const process = await stage.createProcess()
    const payer = await stage.createPayer(1_000n)
    await spend(process, payer, 400n)
    await stage.declareDead(process.borrower.id)
    const [lots] = await stage.database.query<{ free: bigint }>(
      'SELECT sum(remaining_nano_usd)::bigint AS free FROM credit_lots WHERE account_id = $1',
      [payer.accountId],
    )
    expect(lots?.free).toBe(600n)
  })

  test('counts against a cap before it is posted', async () => {
    const [one, other] = [await stage.createProcess(), await stage.createProcess()]
    const payer = { ...(await stage.createPayer(1_000n)), limitNanoUsd: 100n }
    await spend(one, payer, 60n)
    await expect(spend(other, payer, 41n)).rejects.toMatchObject({ code: 'key_limit_reached' })
    await spend(other, payer, 40n)
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 2, costNanoUsd: 100n })
  })
})

describe('a request that is charged a second time', () => {
  test.each([
    ['by another process', false],
    ['by another process, after the first was posted', true],
  ])('%s costs once, and the credit is there for others', async (_name, isPosted) => {
    const [one, other] = [await stage.createProcess(), await stage.createProcess()]
    const payer = { ...(await stage.createPayer(100n)), limitNanoUsd: 100n }
    const id = requestId()
    await spend(one, payer, 40n, id)
    if (isPosted) await postCharges(stage.database)
    await spend(other, payer, 35n, id)
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 40n })
    await spend(other, payer, 60n)
    expect(await one.ledger.readBalance(payer.accountId)).toMatchObject({ balanceNanoUsd: 0n })
  })

  test('in the same commit costs once', async () => {
    const process = await stage.createProcess()
    const payer = await stage.createPayer(100n)
    const record = usageOf(payer)
    const [first, second] = [await hold(process, payer, 30n), await hold(process, payer, 20n)]
    await Promise.all([
      first.settle({ costNanoUsd: 30n, record, isDelivered: false }),
      second.settle({ costNanoUsd: 20n, record, isDelivered: false }),
    ])
    expect(await stage.sumOfCharges(payer.accountId)).toEqual({ requests: 1, costNanoUsd: 30n })
    await spend(process, payer, 70n)
  })
})

test('a commit that cannot be posted is reported and skipped, and does not block others', async () => {
  // Its own stage, because processes of other tests would post it too.
  const apart = await createLedgerStage()
  const errors: unknown[] = []
  const logger: Logger = {
    ...silentLogger,
    error: (details, message) => void errors.push([message, details]),
  }
  const process = await apart.createProcess({ logger })
  const payer = await apart.createPayer(100n)
  const dead = createId()
  await apart.database.query(
    `INSERT INTO charge_journal (borrower_id, sequence, charges) VALUES ($1, 7, 'nonsense')`,
    [dead],
  )
  await spend(process, payer, 40n)
  expect(await process.ledger.readBalance(payer.accountId)).toMatchObject({ balanceNanoUsd: 60n })
  const said = expect.objectContaining({ borrower: dead, commit: '7' })
  expect(errors).toEqual([['charges that were committed could not be posted', said]])
  expect(await apart.findDifferences()).toEqual([
    expect.stringContaining(`every charge could be posted: commit 7 of ${dead}: malformed array literal`),
  ])
  await apart.close()
})
