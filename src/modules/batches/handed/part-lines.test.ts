import { expect, test } from 'vitest'
import { PartLines } from './part-lines.ts'

const answer = { status: 200, body: Buffer.from('{}') }

test('a line gets the first answer, and a second one and those of other lines go nowhere', async () => {
  const lines = new PartLines()
  const first = lines.wait(1, 'one')
  expect(await lines.answer(1, answer)).toBe(true)
  expect(await first).toBe(answer)
  expect([await lines.answer(1, answer), await lines.answer(7, answer)]).toEqual([false, false])
})

test('no further answer is read while many calls are being charged', async () => {
  const lines = new PartLines()
  const numbers = Array.from({ length: 40 }, (_, index) => index + 1)
  for (const number of numbers) void lines.wait(number, 'text')
  let answered = 0
  const reading = (async () => {
    for (const number of numbers) {
      await lines.answer(number, answer)
      answered += 1
    }
  })()
  await new Promise((resolve) => setImmediate(resolve))
  expect(answered).toBeLessThan(40)
  for (const number of numbers) {
    lines.leave(number)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await reading
  expect(answered).toBe(40)
  await lines.settle()
})
