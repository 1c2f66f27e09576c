import { afterAll, beforeAll, expect, test } from 'vitest'
import { wholeAccount } from '../../../storage/place.ts'
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
