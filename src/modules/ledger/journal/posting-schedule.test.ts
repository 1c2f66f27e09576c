import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { silentLogger } from '../../../kernel/logger.ts'
import type { Queryable } from '../../../storage/database.ts'
import { PostingSchedule } from './posting-schedule.ts'

let postings: number
let failures: number
/** The waiting pieces of the journal, and the sleep with which each was posted. */
let pieces: number
let rests: unknown[]
/** Decides when the database answers. */
let answered: Promise<void>
let posting: PostingSchedule

beforeEach(() => {
  vi.useFakeTimers()
  postings = 0
  failures = 0
  pieces = 0
  rests = []
  answered = Promise.resolve()
  const database: Queryable = {
    query: async <Row>(_sql: string, values: readonly unknown[] = []) => {
      const [, , , restSeconds] = values
      if (restSeconds !== undefined) {
        rests.push(restSeconds)
        await answered
        return []
      }
      postings += 1
      if (failures > 0) {
        failures -= 1
        throw new Error('away')
      }
      return Array.from({ length: pieces }, (_, id) => ({ first: id, last: id })) as Row[]
    },
  }
  posting = new PostingSchedule({ database, logger: silentLogger })
})

afterEach(() => {
  vi.useRealTimers()
})

async function commitEvery(periodMs: number, { times, charges = 1 }: { times: number; charges?: number }) {
  for (let count = 0; count < times; count += 1) {
    posting.noteCommitted(charges)
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

test('charges are posted once ten thousand of them wait', async () => {
  await commitEvery(1, { times: 99, charges: 100 })
  expect(postings).toBe(0)
  await commitEvery(1, { times: 1, charges: 100 })
  expect(postings).toBe(1)
  await commitEvery(1, { times: 199, charges: 100 })
  expect(postings).toBe(2)
})

test('what is committed while a posting runs is posted after it', async () => {
  const answer = holdAnswers()
  await commitEvery(1, { times: 1, charges: 10_000 })
  await commitEvery(1, { times: 1, charges: 10_000 })
  await commitEvery(1, { times: 1 })
  expect(postings).toBe(1)
  answer()
  await vi.advanceTimersByTimeAsync(0)
  expect(postings).toBe(2)
})

describe('a posting', () => {
  test('sleeps between charges if no reader waits', async () => {
    pieces = 2
    await commitEvery(500, { times: 1 })
    expect(rests).toEqual([0.001, 0.001])
  })

  test('does not sleep if a reader waits', async () => {
    pieces = 2
    await posting.post()
    expect(rests).toEqual([0, 0])
  })

  test('stops sleeping when a reader arrives', async () => {
    pieces = 2
    const answer = holdAnswers()
    await commitEvery(500, { times: 1 })
    const posted = posting.post()
    answer()
    await posted
    expect(rests).toEqual([0.001, 0, 0, 0])
  })

  test('does not sleep while too many charges wait', async () => {
    pieces = 3
    const answer = holdAnswers()
    await commitEvery(1, { times: 1, charges: 10_000 })
    await commitEvery(1, { times: 20, charges: 1_000 })
    answer()
    await vi.advanceTimersByTimeAsync(0)
    expect(rests.slice(0, 4)).toEqual([0.001, 0, 0, 0.001])
  })
})

/** The database works on a piece until the test releases the answer. */
function holdAnswers(): () => void {
  pieces = Math.max(pieces, 1)
  const { promise, resolve } = Promise.withResolvers<void>()
  answered = promise
  return resolve
}

test('a failed posting is retried without a new commit', async () => {
  failures = 2
  await commitEvery(100, { times: 1 })
  await vi.advanceTimersByTimeAsync(2_000)
  expect(postings).toBe(3)
})

test('readers that arrive during a posting share the next one', async () => {
  await Promise.all([posting.post(), posting.post(), posting.post(), posting.post()])
  expect(postings).toBe(2)
})
