import { afterAll, beforeAll, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import type { Database } from '../../../storage/database.ts'
import { createLedgerStage, usageOf, type LedgerStage } from '../testing/ledger-stage.ts'
import { createLocalBus } from '../testing/local-bus.ts'
import { PLAIN_CHARGE } from '../testing/plain-charge.ts'
import { setBudget, spentInWindow } from '../testing/test-budget.ts'

let stage: LedgerStage

beforeAll(async () => {
  stage = await createLedgerStage()
})
afterAll(() => stage.close())

test('a request with budgets on its way is held without the database: it waits for nothing before it is sent', async () => {
  const statements: string[] = []
  const database = watch(stage.database, (statement) => void statements.push(statement))
  const atMs = Date.UTC(2030, 0, 1)
  const process = await stage.createProcess({ shared: { database, messageBus: createLocalBus() } })
  const payer = {
    ...(await stage.createPayer(1_000_000_000n)),
    projectId: createId(),
    userId: createId(),
  }
  const labels = ['tag:team=search']
  const limitNanoUsd = 1_000_000_000n
  const subjects = [
    'account',
    `project:${payer.projectId}`,
    `user:${payer.userId}`,
    `key:${payer.keyId}`,
    ...labels,
  ]
  let budgetId = ''
  for (const subject of subjects) budgetId = await setBudget(process, payer, { subject, limitNanoUsd })
  const request = { ...PLAIN_CHARGE, labels, wantedNanoUsd: 10n, leastNanoUsd: 10n, atMs }
  const first = await process.ledger.hold(payer, request)
  first.release()
  expect(statements).not.toEqual([])
  statements.length = 0
  // A label list of its own each time, as requests have.
  const holds = Array.from({ length: 500 }, () =>
    process.ledger.hold(payer, { ...request, labels: [...labels] }),
  )
  expect(statements).toEqual([])
  expect(holds.filter((hold) => hold instanceof Promise)).toEqual([])
  const settled = holds.map(async (held) => {
    const hold = await held
    const record = usageOf(payer, { createdAtMs: atMs, labels })
    await hold.settle({ costNanoUsd: 7n, record, isDelivered: false })
  })
  await Promise.all(settled)
  expect(await spentInWindow(stage.database, budgetId, { period: 'month', atMs })).toBe(3_500n)
  await process.close()
})

test('the budgets that wait for their first loan borrow together, and a failure of one loan refuses no other request', async () => {
  const statements: string[] = []
  let failures = 0
  const database = watch(stage.database, (statement) => {
    statements.push(statement)
    if (failures > 0 && statement.startsWith('transaction')) throw new Error(`failure ${(failures -= 1)}`)
  })
  const atMs = Date.UTC(2030, 0, 1)
  const process = await stage.createProcess({ shared: { database, messageBus: createLocalBus() } })
  const payer = await stage.createPayer(1_000_000_000n)
  const projects = Array.from({ length: 50 }, () => ({ ...payer, projectId: createId() }))
  const limitNanoUsd = 100n
  for (const { projectId } of projects)
    await setBudget(process, payer, { subject: `project:${projectId}`, limitNanoUsd })
  const request = { ...PLAIN_CHARGE, labels: [], wantedNanoUsd: 60n, leastNanoUsd: 60n, atMs }
  const opening = await process.ledger.hold(payer, request)
  opening.release()

  statements.length = 0
  failures = 1
  const outcomes = await Promise.allSettled(
    projects.map(async (project) => process.ledger.hold(project, request)),
  )
  expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(projects.map((_, index) => index > 0))
  expect(statements.filter((statement) => statement.startsWith('transaction')).length).toBeLessThan(6)
  const again = await process.ledger.hold(projects[0] ?? payer, request)
  again.release()
  for (const outcome of outcomes) if (outcome.status === 'fulfilled') outcome.value.release()
  await process.close()
})

/** Tells of every statement and transaction before it is sent. */
function watch(database: Database, note: (statement: string) => void): Database {
  return new Proxy(database, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...values: unknown[]) => {
        note(`${String(name)} ${String(values[0]).slice(0, 80)}`)
        return Reflect.apply(member, target, values)
      }
    },
  })
}
