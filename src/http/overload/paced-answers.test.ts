import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { PacedAnswers } from './paced-answers.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
})

function giveAnswers(answers: PacedAnswers, count: number): { given: number[] } {
  const given: number[] = []
  for (let index = 0; index < count; index += 1) answers.add(() => given.push(index))
  return { given }
}

test('few answers are given at once', () => {
  const { given } = giveAnswers(new PacedAnswers({ perSecond: 1_000, waitMsMax: 500 }), 10)
  expect(given).toHaveLength(10)
})

test('a flood of answers is given in order, at the rate', () => {
  const { given } = giveAnswers(new PacedAnswers({ perSecond: 1_000, waitMsMax: 500 }), 100)
  expect(given).toHaveLength(10)
  vi.advanceTimersByTime(50)
  expect(given.length).toBeGreaterThanOrEqual(50)
  expect(given.length).toBeLessThanOrEqual(80)
  vi.advanceTimersByTime(100)
  expect(given).toEqual([...Array(100).keys()])
})

test('no answer waits longer than it may, however many there are', () => {
  const { given } = giveAnswers(new PacedAnswers({ perSecond: 100, waitMsMax: 500 }), 5_000)
  vi.advanceTimersByTime(250)
  expect(given.length).toBeLessThan(4_000)
  vi.advanceTimersByTime(5_000)
  expect(given).toHaveLength(5_000)
})

test('after a flood answers are given at once again', () => {
  const answers = new PacedAnswers({ perSecond: 1_000, waitMsMax: 500 })
  giveAnswers(answers, 100)
  vi.advanceTimersByTime(1_000)
  expect(giveAnswers(answers, 5).given).toHaveLength(5)
})
