import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { KeptConnection } from '../../../storage/database.ts'
import { CommitConnection } from './commit-connection.ts'

interface FakeConnection extends KeptConnection {
  isLost: boolean
  readonly release: ReturnType<typeof vi.fn<(isBroken: boolean) => void>>
}

let opened: FakeConnection[]
let connection: CommitConnection

beforeEach(() => {
  vi.useFakeTimers()
  opened = []
  connection = new CommitConnection({
    keepConnection: async () => {
      const fake = {
        isLost: false,
        openedAtMs: 0,
        query: async () => [],
        write: async () => {},
        release: vi.fn<() => void>(),
      }
      opened.push(fake)
      return fake
    },
  })
})

afterEach(() => vi.useRealTimers())

test('is kept between commits', async () => {
  const taken = await connection.take()
  for (let commit = 0; commit < 10; commit += 1) {
    connection.rest()
    vi.advanceTimersByTime(900)
    expect(connection.take()).toBe(taken)
  }
  expect(opened).toHaveLength(1)
})

test('returns to the pool after a time without commits', async () => {
  await connection.take()
  connection.rest()
  vi.advanceTimersByTime(2_000)
  expect(opened[0]?.release).toHaveBeenCalledExactlyOnceWith(false)
  expect(await connection.take()).toBe(opened[1])
})

test('is not released during a commit', async () => {
  await connection.take()
  connection.rest()
  await connection.take()
  vi.advanceTimersByTime(10_000)
  expect(opened[0]?.release).not.toHaveBeenCalled()
  connection.rest()
  vi.advanceTimersByTime(1_000)
  expect(opened[0]?.release).toHaveBeenCalledOnce()
})

test('is replaced if it was lost between commits', async () => {
  await connection.take()
  connection.rest()
  const [lost] = opened
  if (lost) lost.isLost = true
  expect(await connection.take()).toBe(opened[1])
  expect(lost?.release).toHaveBeenCalledExactlyOnceWith(true)
})
