import { expect, test } from 'vitest'
import { Cancellation } from '../../../kernel/cancellation.ts'
import type { Deployment } from '../deployment.ts'
import { createFollowLogs } from './follow-logs.ts'
import type { LogTail } from './log-tails.ts'

const DEPLOYMENT = { id: 'deployment', accountId: 'account', status: 'running' } as Deployment

function createStage(limits: { bytesMax?: number; durationMsMax?: number } = {}) {
  let tail: LogTail | Error = { runId: 'run', isOpen: true, lines: [] }
  let deployment: Deployment | undefined = DEPLOYMENT
  const cancellation = new Cancellation()
  const followLogs = createFollowLogs({
    tails: { readShared: async () => (tail instanceof Error ? Promise.reject(tail) : tail) },
    find: () => deployment,
    limits: { lookMs: 1, ...limits },
  })
  return {
    cancellation,
    say: (lines: readonly string[], runId = 'run') => {
      tail = { runId, isOpen: true, lines }
    },
    fail: () => {
      tail = new Error('the driver does not answer')
    },
    remove: () => {
      deployment = undefined
    },
    follow: (linesMax = 100) => followLogs({ deployment: DEPLOYMENT, linesMax, cancellation }),
  }
}

const read = async (log: AsyncIterator<readonly Buffer[]>) => {
  const { value } = await log.next()
  return value?.map(
    (event: Buffer) => JSON.parse(event.toString()).line ?? JSON.parse(event.toString()).reason,
  )
}

test('starts with the last lines and continues with the lines of a new run', async () => {
  const stage = createStage()
  stage.say(['a', 'b', 'c'])
  const log = stage.follow(2)
  expect(await read(log)).toEqual(['b', 'c'])
  stage.say(['b', 'c', 'd'])
  expect(await read(log)).toEqual(['d'])
  stage.say(['b', 'c', 'd'], 'another run')
  expect(await read(log)).toEqual(['b', 'c', 'd'])
})

test('waits for a driver that does not answer', async () => {
  const stage = createStage()
  stage.say(['a'])
  const log = stage.follow()
  expect(await read(log)).toEqual(['a'])
  stage.fail()
  const next = read(log)
  stage.say(['a', 'b'])
  expect(await next).toEqual(['b'])
})

test.each([
  ['byte_limit', { bytesMax: 100 }],
  ['time_limit', { durationMsMax: 0 }],
])('ends at its limit: %s', async (reason, limits) => {
  const stage = createStage(limits)
  stage.say(['x'.repeat(200)])
  const log = stage.follow()
  await read(log)
  expect(await read(log)).toEqual([reason])
  expect((await log.next()).done).toBe(true)
})

test('ends at once when the client disconnects, and releases its slot', async () => {
  const stage = createStage()
  const logs = Array.from({ length: 5 }, () => stage.follow())
  expect(() => stage.follow()).toThrow('Too many logs')
  const ends = logs.map((log) => log.next())
  stage.cancellation.cancel(new Error('gone'))
  expect((await Promise.all(ends)).map(({ done }) => done)).toEqual([true, true, true, true, true])
  expect(() => stage.follow()).not.toThrow()
})

test('ends when its deployment is deleted', async () => {
  const stage = createStage()
  stage.remove()
  expect(await read(stage.follow())).toEqual(['deleted'])
})
