import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { silentLogger } from '../../kernel/logger.ts'
import type { Queryable } from '../../storage/database.ts'
import { ChargePoster } from './charge-poster.ts'

let postings: number
let failures: number
let poster: ChargePoster

beforeEach(() => {
  vi.useFakeTimers()
  postings = 0
  failures = 0
  // Nothing waits in its journal, so that each posting is one look.
  const database: Queryable = {
    query: async () => {
      postings += 1
      if (failures === 0) return []
      failures -= 1
      throw new Error('away')
    },
  }
  poster = new ChargePoster({ database, logger: silentLogger })
})

afterEach(() => {
  vi.useRealTimers()
})

async function commitEvery(periodMs: number, { times, charges = 1 }: { times: number; charges?: number }) {
  for (let count = 0; count < times; count += 1) {
    poster.noteCommitted(charges)
    await vi.advanceTimersByTimeAsync(periodMs)
  }
}

test('charges are posted when there was no commit for half a second', async () => {
  await commitEvery(100, { times: 10 })
  expect(postings).toBe(0)
  await vi.advanceTimersByTimeAsync(500)
  expect(postings).toBe(1)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(postings).toBe(1)
})

test('charges are posted after five seconds without such a pause, and so on', async () => {
  await commitEvery(100, { times: 45 })
  expect(postings).toBe(0)
  await commitEvery(100, { times: 6 })
  expect(postings).toBe(1)
  await commitEvery(100, { times: 51 })
  expect(postings).toBe(2)
})

test('charges are posted once twenty thousand of them wait', async () => {
  await commitEvery(1, { times: 19, charges: 1_000 })
  expect(postings).toBe(0)
  await commitEvery(1, { times: 1, charges: 1_000 })
  expect(postings).toBe(1)
  await commitEvery(1, { times: 39, charges: 1_000 })
  expect(postings).toBe(2)
})

test('what could not be posted is tried again, though nothing else is committed', async () => {
  failures = 2
  await commitEvery(100, { times: 1 })
  await vi.advanceTimersByTimeAsync(2_000)
  expect(postings).toBe(3)
})

test('all who want to read while a posting runs wait for one that follows', async () => {
  await Promise.all([poster.post(), poster.post(), poster.post(), poster.post()])
  expect(postings).toBe(2)
})
