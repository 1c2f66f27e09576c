import { afterAll, beforeAll, expect, test } from 'vitest'
import { wholeAccount } from '../../../storage/place.ts'
import { forgetTasks } from './forget-tasks.ts'
import { sweepResults } from './sweep-results.ts'
import { createTaskStage, orderOf, outcomeOf, type TaskStage } from '../testing/task-stage.ts'

let stage: TaskStage
beforeAll(async () => {
  stage = await createTaskStage()
})
afterAll(() => stage.close())

test('the request of a failed task is deleted when it expires, and never before the task has ended', async () => {
  const caller = await stage.createCaller(1)
  const [failed, waiting] = [
    await stage.tasks.create(orderOf(caller)),
    await stage.tasks.create(orderOf(caller)),
  ]
  const [claim] = await stage.queue.claim(1)
  if (claim === undefined) throw new Error('a task was to be claimed')
  await stage.queue.finish({ claim, end: { status: 'failed', code: 'timeout', message: 'x' } })
  await stage.database.query('UPDATE tasks SET expires_at = now()')
  await sweepResults(stage.database, async () => {})
  const rows = await stage.database.query(
    `SELECT id, work = 'null' AS is_gone FROM tasks WHERE id = ANY ($1::uuid[]) ORDER BY id`,
    [[failed.id, waiting.id]],
  )
  expect(rows).toEqual([
    { id: failed.id, is_gone: true },
    { id: waiting.id, is_gone: false },
  ])
  await stage.tasks.cancel(wholeAccount(caller.accountId), waiting.id)
})

test('an expired result is deleted with its files, and the task stays', async () => {
  const caller = await stage.createCaller(1)
  const [old, young] = [await stage.tasks.create(orderOf(caller)), await stage.tasks.create(orderOf(caller))]
  for (const claim of await stage.queue.claim(2)) await stage.queue.finish({ claim, end: outcomeOf() })
  await stage.database.query('UPDATE tasks SET expires_at = now() WHERE id = $1', [old.id])
  const removed: string[] = []
  await sweepResults(stage.database, async (mediaIds) => void removed.push(...mediaIds))
  expect(removed).toEqual(['m1', 'm2'])
  const kept = await stage.tasks.read(wholeAccount(caller.accountId), old.id)
  expect(kept).toMatchObject({ status: 'completed', result: null, costNanoUsd: 4_000_000n })
  expect((await stage.tasks.read(wholeAccount(caller.accountId), young.id)).result).not.toBeNull()
})

test('ended tasks that are not kept are deleted with their holds, and others and what they cost stay', async () => {
  const caller = await stage.createCaller(1)
  const createAt = () => stage.tasks.create(orderOf(caller))
  const [old, running] = [await createAt(), await createAt()]
  const [claim] = (await stage.queue.claim(2)).filter(({ task }) => task.id === old.id)
  if (claim === undefined) throw new Error('the task was to be claimed')
  await stage.queue.finish({ claim, end: outcomeOf() })
  const isKept = async (id: string) =>
    (await stage.database.query('SELECT FROM tasks WHERE id = $1', [id])).length === 1
  const later = Date.now() + 1_000
  // Its result is not swept.
  await forgetTasks(stage.database, later)
  expect(await isKept(old.id)).toBe(true)
  await stage.database.query('UPDATE tasks SET expires_at = now() WHERE id = $1', [old.id])
  await sweepResults(stage.database, async () => {})
  await forgetTasks(stage.database, Date.now() - 60_000)
  expect(await isKept(old.id)).toBe(true)
  await forgetTasks(stage.database, later)
  expect([await isKept(old.id), await isKept(running.id)]).toEqual([false, true])
  const holds = await stage.database.query<{ key: string }>(
    'SELECT key FROM credit_holds WHERE account_id = $1',
    [caller.accountId],
  )
  expect(holds).toEqual([{ key: `task:${running.id}` }])
  const entries = await stage.database.query(
    `SELECT FROM ledger_entries WHERE account_id = $1 AND kind = 'charge' AND book = 'credit'`,
    [caller.accountId],
  )
  expect(entries).toHaveLength(1)
})
