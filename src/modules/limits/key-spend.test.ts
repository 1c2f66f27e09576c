import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../kernel/logger.ts'
import type { Queryable } from '../../storage/database.ts'
import { createKeySpend } from './key-spend.ts'

/** The database says that every key has spent so much. */
function createSpend(spent: bigint) {
  let asked = 0
  const query = async (_: string, [ids]: readonly unknown[] = []) => {
    asked += 1
    return (ids as readonly string[]).map((id) => ({ id, spent, day_left_ms: 60_000n }))
  }
  const spend = createKeySpend({
    database: { query } as unknown as Queryable,
    logger: silentLogger,
  })
  onTestFinished(() => spend.close())
  return { spend, asked: () => asked }
}

test('what a key has spent is unknown until it is read, also after this process has spent something with it', async () => {
  const { spend } = createSpend(500n)
  spend.add('k', 7n)
  expect(spend.known('k')).toBe(null)
  expect(await spend.read('k')).toMatchObject({ spentNanoUsd: 507n })
  expect(spend.known('k')).toMatchObject({ spentNanoUsd: 507n })
})

test('requests that come while a key is read wait for the same answer', async () => {
  const { spend, asked } = createSpend(5n)
  const reads = await Promise.all(['k', 'k', 'k', 'other'].map((id) => spend.read(id)))
  expect(reads.map(({ spentNanoUsd }) => spentNanoUsd)).toEqual([5n, 5n, 5n, 5n])
  expect(asked()).toBe(2)
})
