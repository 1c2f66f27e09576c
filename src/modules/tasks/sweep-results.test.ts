import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweepResults } from './sweep-results.ts'
import { createTaskStage, orderOf, outcomeOf, type TaskStage } from './testing/task-stage.ts'

let stage: TaskStage
beforeAll(async () => {
  stage = await createTaskStage()
})
afterAll(() => stage.close())

test('a result whose time is over goes with its files, and the task stays', async () => {
  const caller = await stage.createCaller(1)
  const [old, young] = [await stage.tasks.create(orderOf(caller)), await stage.tasks.create(orderOf(caller))]
  for (const claim of await stage.queue.claim(2)) await stage.queue.finish({ claim, end: outcomeOf() })
  await stage.database.query('UPDATE tasks SET expires_at = now() WHERE id = $1', [old.id])
  const removed: string[] = []
  await sweepResults(stage.database, async (mediaIds) => void removed.push(...mediaIds))
  expect(removed).toEqual(['m1', 'm2'])
  const kept = await stage.tasks.read(caller.accountId, old.id)
  expect(kept).toMatchObject({ status: 'completed', result: null, costNanoUsd: 4_000_000n })
  expect((await stage.tasks.read(caller.accountId, young.id)).result).not.toBeNull()
})
