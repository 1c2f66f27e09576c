import { expect, test } from 'vitest'
import type { Database } from '../../../storage/database.ts'
import { recordLastUsed } from './record-last-used.ts'

test('nothing is written while no key is used', async () => {
  const { database, writes } = createRecordingDatabase()
  const recorder = recordLastUsed({ database })
  await recorder.flush()
  await recorder.close()
  expect(writes).toEqual([])
})

test('many uses of many keys are one statement with the latest use of each', async () => {
  const { database, writes } = createRecordingDatabase()
  const recorder = recordLastUsed({ database })
  recorder.note('a', 1000)
  recorder.note('b', 2000)
  recorder.note('a', 3000)
  recorder.note('a', 500)
  await recorder.close()
  expect(writes).toEqual([
    [
      ['a', 'b'],
      [new Date(3000), new Date(2000)],
    ],
  ])
})

test('a failed write is repeated with the next one, without going back', async () => {
  const { database, writes, failNext } = createRecordingDatabase()
  const recorder = recordLastUsed({ database })
  recorder.note('a', 1000)
  recorder.note('b', 1000)
  failNext()
  const failing = recorder.flush()
  recorder.note('a', 2000)
  await expect(failing).rejects.toThrow('away')
  await recorder.close()
  expect(writes).toHaveLength(1)
  const [[ids, times] = []] = writes
  expect(new Map(ids?.map((id, index) => [id, times?.[index]]))).toEqual(
    new Map([
      ['a', new Date(2000)],
      ['b', new Date(1000)],
    ]),
  )
})

test('closing does not fail for a use that cannot be written', async () => {
  const { database, failNext } = createRecordingDatabase()
  const recorder = recordLastUsed({ database })
  recorder.note('a', 1000)
  failNext()
  await recorder.close()
})

test('uses are written after a while', async () => {
  const { database, written } = createRecordingDatabase()
  const recorder = recordLastUsed({ database, flushIntervalMs: 1 })
  recorder.note('a', 1000)
  await written
  await recorder.close()
})

function createRecordingDatabase() {
  const writes: [string[], Date[]][] = []
  const { promise: written, resolve } = Promise.withResolvers<void>()
  let isFailing = false
  const refuse = async (): Promise<never> => {
    throw new Error('not used')
  }
  const database = {
    query: refuse,
    transaction: async (work: (queryable: unknown) => Promise<unknown>) =>
      work({
        query: async (_sql: string, values: [string[], Date[]]) => {
          if (isFailing) {
            isFailing = false
            throw new Error('the database is away')
          }
          writes.push(values)
          resolve()
          return []
        },
      }),
    ping: refuse,
    close: refuse,
  } as unknown as Database
  return { database, writes, written, failNext: () => (isFailing = true) }
}
