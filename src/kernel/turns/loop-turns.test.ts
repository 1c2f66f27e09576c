import { expect, test } from 'vitest'
import { nextLoopTurn } from './loop-turns.ts'

test('only one of many long computations takes a step in each turn of the event loop, one after the other', async () => {
  const steps: string[] = []
  let turn = 0
  const watch = (): void => {
    turn += 1
    if (turn < 40) setImmediate(watch)
  }
  setImmediate(watch)
  const compute = async (name: string): Promise<void> => {
    for (let step = 0; step < 3; step += 1) {
      await nextLoopTurn()
      steps.push(`${name} ${turn}`)
    }
  }
  await Promise.all(['a', 'b', 'c'].map(compute))
  expect(steps.map((step) => step.split(' ')[0])).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'])
  expect(new Set(steps.map((step) => step.split(' ')[1])).size).toBe(steps.length)
})
