import { expect, test } from 'vitest'
import { limitConcurrency } from './limit-concurrency.ts'

test('a limited number run, a limited number wait in turn, others are refused, and a failure frees its place', async () => {
  const limited = limitConcurrency({ runningMax: 2, waitingMax: 3 })
  const started: number[] = []
  const gates = Array.from({ length: 6 }, () => Promise.withResolvers<number>())
  const running = gates.map(({ promise }, index) =>
    limited(() => {
      started.push(index)
      return promise
    }),
  )
  await expect(running[5]).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 1 })
  expect(started).toEqual([0, 1])
  gates[1]?.reject(new Error('failed'))
  await expect(running[1]).rejects.toThrow('failed')
  expect(started).toEqual([0, 1, 2])
  for (const [index, gate] of gates.entries()) gate.resolve(index)
  const others = running.filter((_, index) => index !== 1 && index !== 5)
  expect(await Promise.all(others)).toEqual([0, 2, 3, 4])
  expect(started).toEqual([0, 1, 2, 3, 4])
  expect(await limited(async () => 'again')).toBe('again')
})
