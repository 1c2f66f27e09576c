import { afterAll, beforeAll, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { LedgerEntry, Payer } from '../ledger.ts'
import { createLedgerStage, usageOf, type LedgerProcess, type LedgerStage } from '../testing/ledger-stage.ts'
import { hold } from '../testing/spend.ts'
import { walkEntries } from './list-entries.ts'
import { sweepOnce } from './sweep-ledger.ts'

let stage: LedgerStage
let processes: readonly LedgerProcess[]

beforeAll(async () => {
  stage = await createLedgerStage()
  processes = [await stage.createProcess(), await stage.createProcess()]
})

afterAll(() => stage.close())

const [MODELS, KEYS] = [
  ['small', 'large'],
  [createId(), createId()],
] as const

async function charge(index: number, payer: Payer, costNanoUsd: NanoUsd): Promise<void> {
  const process = processes[index % 2]
  if (process === undefined) throw new Error('there is no such process')
  const open = await hold(process, payer, costNanoUsd)
  const [model, keyId] = [MODELS[index % 2] ?? '', KEYS[index % 3 === 0 ? 0 : 1] ?? '']
  await open.settle({ costNanoUsd, record: usageOf(payer, { model, keyId }), isDelivered: false })
}

/** Grants and expiries among concurrent charges of two processes. */
async function movedAccount(): Promise<Payer> {
  const payer = await stage.createPayer(100_000n)
  const { ledger } = processes[0] ?? expect.unreachable()
  for (let round = 0; round < 4; round += 1) {
    const granted = stage.database.transaction((transaction) =>
      ledger.grant(transaction, {
        key: `gift:${round}:${payer.accountId}`,
        accountId: payer.accountId,
        amountNanoUsd: 1_000n,
        class: 'promotional',
        book: 'promotion',
        reason: 'gift',
        expiresAtMs: Date.now() + 3_600_000,
      }),
    )
    const charges = Array.from({ length: 10 }, (_, index) =>
      charge(index, payer, BigInt(round * 7 + index + 1)),
    )
    await Promise.all([granted, ledger.postCharges(), ...charges])
    await stage.database.query(
      `UPDATE credit_lots SET expires_at = now() - interval '1 second' WHERE account_id = $1 AND expires_at IS NOT NULL`,
      [payer.accountId],
    )
    await sweepOnce(stage.database)
  }
  // A day of statements in between.
  await stage.database.transaction(async (transaction) => {
    await transaction.query(
      `INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, created_at)
       VALUES ($1, $2, 'credit', 'grant', 7, now() - interval '3 days'), ($1, $2, 'cash', 'grant', -7, now() - interval '3 days')`,
      [`earlier:${payer.accountId}`, payer.accountId],
    )
    await transaction.query(
      'UPDATE credit_lots SET remaining_nano_usd = remaining_nano_usd + 7 WHERE id = (SELECT id FROM credit_lots WHERE account_id = $1 AND class = $2 LIMIT 1)',
      [payer.accountId, 'paid'],
    )
  })
  return payer
}

async function readAll(payer: Payer, limit: number): Promise<LedgerEntry[]> {
  const { ledger } = processes[1] ?? expect.unreachable()
  const entries: LedgerEntry[] = []
  for (;;) {
    const afterId = entries.at(-1)?.id ?? null
    const page = await ledger.listEntries(payer.accountId, { limit, afterId })
    entries.push(...page.items)
    if (!page.hasMore) return entries
  }
}

test('the balance after each entry is the exact sum of all entries up to it, in pages, files and filtered lists', async () => {
  const payer = await movedAccount()
  const { ledger } = processes[0] ?? expect.unreachable()
  const entries = await readAll(payer, 3)
  let balance = 0n
  for (const entry of entries.toReversed()) {
    balance += entry.amountNanoUsd
    expect(entry.balanceNanoUsd).toBe(balance)
  }
  expect(balance).toBe((await ledger.readBalance(payer.accountId)).balanceNanoUsd)
  expect(new Set(entries.map(({ kind }) => kind))).toEqual(new Set(['grant', 'charge', 'expire']))
  const walked: LedgerEntry[] = []
  for await (const part of ledger.walkEntries(payer.accountId, {})) walked.push(...part)
  expect(walked).toEqual(entries)
  const filter = { kind: 'grant', untilMs: Date.now() - 60_000 } as const
  const filtered = await ledger.listEntries(payer.accountId, { limit: 5, afterId: null }, filter)
  expect(filtered).toMatchObject({
    total: 1,
    hasMore: false,
    items: [{ amountNanoUsd: 7n, balanceNanoUsd: 7n }],
  })
  expect(await stage.findDifferences()).toEqual([])
})

test('a list is counted up to a bound, and so is a filtered one', async () => {
  const payer = await stage.createPayer(1n)
  const { ledger } = processes[0] ?? expect.unreachable()
  await stage.database.query(
    `INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd)
     SELECT 'count:' || number || ':' || $1, $1::uuid, 'credit', 'charge', 0 FROM generate_series(1, 10000) AS number`,
    [payer.accountId],
  )
  const page = { limit: 1, afterId: null }
  expect(await ledger.listEntries(payer.accountId, page)).toMatchObject({
    total: 10_000,
    isTotalExact: false,
  })
  const charges = await ledger.listEntries(payer.accountId, page, { kind: 'charge' })
  expect(charges).toMatchObject({ total: 10_000, isTotalExact: true })
  const grants = await ledger.listEntries(payer.accountId, page, { kind: 'grant' })
  expect(grants).toMatchObject({ total: 1, isTotalExact: true, items: [{ balanceNanoUsd: 1n }] })
})

test('a charge says what it is for by key and model, the dearest first, and its parts add up to it', async () => {
  const payer = await stage.createPayer(10_000n)
  const { ledger } = processes[0] ?? expect.unreachable()
  await Promise.all(Array.from({ length: 12 }, (_, index) => charge(index, payer, BigInt(index + 1))))
  const charges = (await readAll(payer, 100)).filter(({ kind }) => kind === 'charge')
  for (const { amountNanoUsd, charges: parts } of charges) {
    const amounts = (parts ?? []).map((part) => part.amountNanoUsd)
    expect(amounts.reduce((sum, amount) => sum + amount, 0n)).toBe(-amountNanoUsd)
    expect(amounts).toEqual(amounts.toSorted((a, b) => Number(b - a)))
  }
  const parts = charges.flatMap((entry) => entry.charges ?? [])
  expect(parts.reduce((sum, { requests }) => sum + requests, 0)).toBe(12)
  expect(new Set(parts.map(({ model, key }) => `${model} ${key?.id}`)).size).toBe(4)
  expect(
    (await ledger.listEntries((await stage.createPayer(1n)).accountId, { limit: 9, afterId: null })).items,
  ).toHaveLength(1)
})

test('an entry lists twenty parts, and one for all others', async () => {
  const payer = await stage.createPayer(10_000n)
  const { ledger } = processes[0] ?? expect.unreachable()
  const parts = Array.from({ length: 25 }, (_, index) => [payer.keyId, `model-${index}`, 2, '3'])
  await stage.database.query(
    `INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, charges)
     VALUES ($1, $2, 'credit', 'charge', -75, $3::jsonb)`,
    [`many:${payer.accountId}`, payer.accountId, JSON.stringify(parts)],
  )
  const { items } = await ledger.listEntries(payer.accountId, { limit: 1, afterId: null })
  expect(items[0]?.charges).toHaveLength(21)
  expect(items[0]?.charges?.at(-1)).toEqual({ key: null, model: null, requests: 10, amountNanoUsd: 15n })
  await expect(
    stage.database.query('DELETE FROM ledger_entries WHERE account_id = $1', [payer.accountId]),
  ).rejects.toThrow('never changed')
})

test('a file adds up a day once for thousands of entries, and has the parts of few of them in memory', async () => {
  const payer = await stage.createPayer(1n)
  const parts = Array.from({ length: 900 }, (_, index) => [payer.keyId, `model-${index}`, 1, '1'])
  await stage.database.query(
    `INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, charges)
     SELECT format('walked:%s:%s', $1::uuid, number), $1, 'credit', 'charge', -900, CASE WHEN number <= 5 THEN $2::jsonb END
     FROM generate_series(1, 250) AS number`,
    [payer.accountId, JSON.stringify(parts)],
  )
  const reads: string[] = []
  const counting: Queryable = {
    query: (sql, values) => {
      reads.push(sql)
      return stage.database.query(sql, values)
    },
  }
  const pieces: (readonly LedgerEntry[])[] = []
  for await (const piece of walkEntries(counting, payer.accountId, {})) pieces.push(piece)
  expect(reads.filter((sql) => sql.includes('FROM ledger_by_day'))).toHaveLength(1)
  const partsOf = (piece: readonly LedgerEntry[]) => piece.flatMap(({ charges }) => charges ?? []).length
  expect(pieces.map(partsOf).toSorted((a, b) => b - a)).toEqual([1_800, 1_800, 900, 0, 0])
  const entries = pieces.flat()
  expect(entries).toHaveLength(251)
  expect(entries[0]?.balanceNanoUsd).toBe(1n - 250n * 900n)
})
