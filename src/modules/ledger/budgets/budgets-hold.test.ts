import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '../../../kernel/app-error.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { Payer } from '../ledger.ts'
import { createLedgerStage, usageOf, type LedgerProcess, type LedgerStage } from '../testing/ledger-stage.ts'
import { setBudget as setTestBudget, spentInWindow, type BudgetOrder } from '../testing/test-budget.ts'
import { windowAt, type WindowPeriod } from './budget-window.ts'

let stage: LedgerStage
let processes: [LedgerProcess, LedgerProcess]
/** A moment before the end of a day, a week and a month. */
let nowMs = Date.UTC(2030, 2, 31, 23, 59)

beforeAll(async () => {
  stage = await createLedgerStage()
  const createProcess = () => stage.createProcess({ nowMs: () => nowMs, holdWaitMs: 50 })
  processes = [await createProcess(), await createProcess()]
})

afterEach(async () => {
  expect(await stage.findDifferences()).toEqual([])
})

afterAll(() => stage.close())

const setBudget = (payer: Payer, order: BudgetOrder): Promise<string> =>
  setTestBudget(processes[0], payer, order)

interface Kind {
  readonly model?: string
  readonly labels?: readonly string[]
  readonly atMs?: number
}

/** The charged amount, or the error code of the refusal. */
async function spend(
  process: LedgerProcess,
  payer: Payer,
  costNanoUsd: bigint,
  { model = 'm', labels = [], atMs = nowMs }: Kind = {},
): Promise<bigint | string> {
  try {
    const hold = await process.ledger.hold(payer, {
      wantedNanoUsd: costNanoUsd,
      leastNanoUsd: costNanoUsd,
      model,
      labels,
      atMs,
    })
    const record = usageOf(payer, { createdAtMs: atMs, model, ...(labels.length > 0 && { labels }) })
    await hold.settle({ costNanoUsd, record, isDelivered: false })
    return costNanoUsd
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

/** Many concurrent requests in both processes, then single ones until none fits. */
async function spendAll(payers: readonly Payer[], kind: Kind = {}): Promise<void> {
  const costs = Array.from({ length: 60 }, (_, index) => BigInt((index * 7) % 23))
  const of = <Item>(list: readonly Item[], index: number): Item => {
    const item = list[index % list.length]
    if (item === undefined) throw new Error('an empty list')
    return item
  }
  await Promise.all(
    costs.map((cost, index) => spend(of(processes, index), of(payers, Math.floor(index / 2)), cost, kind)),
  )
  for (const process of processes)
    for (const payer of payers)
      for (const cost of [7n, 3n, 1n]) {
        let count = 0
        while (typeof (await spend(process, payer, cost, kind)) !== 'string' && count < 100) count += 1
      }
}

const spentOf = (budgetId: string, period: WindowPeriod = 'month', atMs = nowMs): Promise<bigint> =>
  spentInWindow(stage.database, budgetId, { period, atMs })

/** A further key of the account, which the database knows with its owner. */
async function addKey(
  payer: Payer,
  owner: { readonly projectId?: string; readonly originKeyId?: string } = {},
): Promise<Payer> {
  const keyId = createId()
  const { projectId = null, originKeyId = null } = owner
  if (projectId !== null)
    await stage.database.query(
      `INSERT INTO projects (id, account_id, name) VALUES ($1, $2, 'p') ON CONFLICT DO NOTHING`,
      [projectId, payer.accountId],
    )
  await stage.database.query(
    `INSERT INTO api_keys (id, account_id, name, environment, key_hash, key_prefix, scopes, project_id, origin_key_id)
     VALUES ($1, $2, 'k', 'test', $3, 'pk', '{inference}', $4, $5)`,
    [keyId, payer.accountId, Buffer.from(keyId), projectId, originKeyId],
  )
  return { ...payer, keyId, projectId }
}

describe('a budget is used up to the last nano-dollar and not beyond', () => {
  test.each<WindowPeriod>(['day', 'week', 'month', 'total'])(
    'a budget of a %s is used up exactly, by two processes',
    async (period) => {
      const payer = await stage.createPayer(10_000n)
      const id = await setBudget(payer, { subject: 'account', period, limitNanoUsd: 300n })
      await spendAll([payer])
      expect(await spentOf(id, period)).toBe(300n)
      expect((await stage.sumOfCharges(payer.accountId)).costNanoUsd).toBe(300n)
      expect(await spend(processes[1], payer, 1n)).toBe('budget_exceeded')
    },
  )

  test('ten keys of a project use up its budget exactly, while another project goes on', async () => {
    const payer = await stage.createPayer(10_000n)
    const projectId = createId()
    const keys = await Promise.all(Array.from({ length: 10 }, () => addKey(payer, { projectId })))
    const id = await setBudget(payer, { subject: `project:${projectId}`, limitNanoUsd: 300n })
    await spendAll(keys)
    expect(await spentOf(id)).toBe(300n)
    expect(await spend(processes[0], await addKey(payer, { projectId: createId() }), 50n)).toBe(50n)
    expect(await spend(processes[0], await addKey(payer, { projectId }), 1n)).toBe('budget_exceeded')
    expect(await spentOf(id)).toBe(300n)
  })

  test('several budgets hold at once, of account, project, key, model, tag and group at once: the tightest one decides', async () => {
    const payer = await stage.createPayer(10_000n)
    const projectId = createId()
    const key = await addKey(payer, { projectId })
    const group = `group:${createId()}`
    const limits = new Map([
      ['account', 500n],
      [`project:${projectId}`, 400n],
      [`key:${key.keyId}`, 350n],
      ['tag:team=search', 200n],
      [group, 320n],
    ])
    const ids = new Map<string, string>()
    for (const [subject, limitNanoUsd] of limits)
      ids.set(subject, await setBudget(payer, { subject, limitNanoUsd }))
    const ofModel = await setBudget(payer, { subject: 'account', limitNanoUsd: 120n, models: ['costly'] })
    await spendAll([key], { labels: [group, 'tag:team=search'], model: 'costly' })
    expect(await spentOf(ofModel)).toBe(120n)
    await spendAll([key], { labels: [group, 'tag:team=search'] })
    expect(await spentOf(ids.get('tag:team=search') ?? '')).toBe(200n)
    await spendAll([key], { labels: [group] })
    expect(await spentOf(ids.get(group) ?? '')).toBe(320n)
    await spendAll([key])
    expect(await spentOf(ids.get(`key:${key.keyId}`) ?? '')).toBe(350n)
    expect(await spentOf(ids.get('account') ?? '')).toBe(350n)
  })
})

test('what was spent before a budget existed counts in its present windows', async () => {
  const payer = await addKey(await stage.createPayer(10_000n))
  const labels = ['tag:team=search']
  await spend(processes[0], payer, 40n, { labels })
  await spend(processes[1], payer, 60n, { model: 'costly' })
  await spend(processes[1], payer, 5n, { atMs: nowMs - 40 * 86_400_000 })
  const order = { limitNanoUsd: 1_000n }
  expect(await spentOf(await setBudget(payer, { ...order, subject: 'account' }))).toBe(100n)
  expect(await spentOf(await setBudget(payer, { ...order, subject: 'tag:team=search' }))).toBe(40n)
  expect(
    await spentOf(await setBudget(payer, { ...order, subject: `key:${payer.keyId}`, models: ['costly'] })),
  ).toBe(60n)
  const ever = await setBudget(payer, { ...order, subject: 'account', period: 'total' })
  expect(await spentOf(ever, 'total')).toBe(105n)
})

test('what a session of a key spent in another project before counts in a new budget of the key', async () => {
  const payer = await addKey(await stage.createPayer(10_000n))
  const session = await addKey(payer, { projectId: createId(), originKeyId: payer.keyId })
  await spend(processes[0], session, 40n)
  expect(await spentOf(await setBudget(payer, { subject: `key:${payer.keyId}`, limitNanoUsd: 100n }))).toBe(
    40n,
  )
})

test('a budget that begins under load counts every charge once', async () => {
  const payer = await stage.createPayer(1_000_000n)
  const over = new AbortController()
  let charged = 0n
  const load = processes.flatMap((process) =>
    Array.from({ length: 8 }, async () => {
      while (!over.signal.aborted) {
        const cost = await spend(process, payer, 1n)
        charged += BigInt(cost)
      }
    }),
  )
  const ids = []
  for (let count = 0; count < 8; count += 1)
    ids.push(await setBudget(payer, { subject: 'account', limitNanoUsd: 1_000_000n }))
  over.abort()
  await Promise.all(load)
  for (const id of ids) expect(await spentOf(id)).toBe(charged)
})

test('a request counts for the window in which it began, also if it ends and costs more after the turn', async () => {
  const payer = await stage.createPayer(10_000n)
  const id = await setBudget(payer, { subject: 'account', period: 'day', limitNanoUsd: 100n })
  const beganMs = nowMs
  const hold = await processes[0].ledger.hold(payer, {
    wantedNanoUsd: 50n,
    leastNanoUsd: 50n,
    model: 'm',
    labels: [],
    atMs: beganMs,
  })
  nowMs = Date.UTC(2030, 3, 1, 0, 1)
  expect(await spend(processes[1], payer, 100n)).toBe(100n)
  await hold.cover(80n)
  expect(hold.amountNanoUsd).toBe(80n)
  const record = usageOf(payer, { createdAtMs: beganMs, model: 'm' })
  await hold.settle({ costNanoUsd: 80n, record, isDelivered: true })
  expect(await spentOf(id, 'day', beganMs)).toBe(80n)
  expect(await spentOf(id, 'day')).toBe(100n)
  expect(await spend(processes[0], payer, 21n, { atMs: beganMs })).toBe('budget_exceeded')
  expect(await spend(processes[0], payer, 20n, { atMs: beganMs })).toBe(20n)
})

test('a raise holds until its end', async () => {
  const payer = await stage.createPayer(10_000n)
  const untilMs = nowMs + 1_000
  await setBudget(payer, {
    subject: 'account',
    period: 'total',
    limitNanoUsd: 10n,
    raise: { amountNanoUsd: 5n, untilMs },
  })
  expect(await spend(processes[0], payer, 12n)).toBe(12n)
  nowMs = untilMs
  expect(await spend(processes[0], payer, 1n)).toBe('budget_exceeded')
  expect(await spend(processes[1], payer, 1n)).toBe('budget_exceeded')
})

test('a budget that only warns refuses nothing, and a free request passes an empty budget', async () => {
  const payer = await stage.createPayer(10_000n)
  const warning = await setBudget(payer, { subject: 'account', limitNanoUsd: 10n, isHard: false })
  expect(await spend(processes[0], payer, 50n)).toBe(50n)
  expect(await spentOf(warning)).toBe(50n)
  await setBudget(payer, { subject: 'account', limitNanoUsd: 0n })
  expect(await spend(processes[0], payer, 1n)).toBe('budget_exceeded')
  expect(await spend(processes[0], payer, 0n)).toBe(0n)
})

test('a refusal says which budget it was, what is left and when it starts again', async () => {
  const payer = await stage.createPayer(10_000n)
  await setBudget(payer, { subject: 'tag:team=search', period: 'day', limitNanoUsd: 10n })
  const nextDay = new Date(windowAt('day', nowMs).endMs).toISOString()
  await expect(
    processes[0].ledger.hold(payer, {
      wantedNanoUsd: 11n,
      leastNanoUsd: 11n,
      model: 'm',
      labels: ['tag:team=search'],
    }),
  ).rejects.toThrow(
    `The daily budget of 0.00000001 USD of the tag team=search is reached: 0.000000011 USD needed, 0.00000001 USD left. It starts again at ${nextDay}.`,
  )
})
