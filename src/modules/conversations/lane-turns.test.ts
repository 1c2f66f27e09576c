import { expect, test } from 'vitest'
import { AppError } from '../../kernel/app-error.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import { LaneTurns } from './lane-turns.ts'

const refuse = (): never => {
  throw new AppError('concurrency_limit_reached', 'full')
}

test('a lane waits for a slot while another lane of its turn has one', async () => {
  const laneSlots = new LaneTurns()
  const cancellation = new Cancellation()
  expect(await laneSlots.enter(() => 'first', cancellation)).toBe('first')
  let isFull = true
  const second = laneSlots.enter(() => (isFull ? refuse() : 'second'), cancellation)
  isFull = false
  laneSlots.leave()
  expect(await second).toBe('second')
})

test('a lane that is refused while the last other lane ends asks again', async () => {
  const laneSlots = new LaneTurns()
  const cancellation = new Cancellation()
  await laneSlots.enter(() => 'first', cancellation)
  let isFull = true
  const second = laneSlots.enter(async () => {
    if (!isFull) return 'second'
    isFull = false
    laneSlots.leave()
    return refuse()
  }, cancellation)
  expect(await second).toBe('second')
})

test('a lane does not wait if no lane of its turn has a slot, nor for other limits', async () => {
  const laneSlots = new LaneTurns()
  const cancellation = new Cancellation()
  await expect(laneSlots.enter(refuse, cancellation)).rejects.toThrow('full')
  await laneSlots.enter(() => 'first', cancellation)
  const broken = (): never => {
    throw new AppError('rate_limit_exceeded', 'too many')
  }
  await expect(laneSlots.enter(broken, cancellation)).rejects.toThrow('too many')
})

test('a lane stops waiting when it is cancelled', async () => {
  const laneSlots = new LaneTurns()
  const cancellation = new Cancellation()
  await laneSlots.enter(() => 'first', cancellation)
  const second = laneSlots.enter(refuse, cancellation)
  cancellation.cancel(new Error('gone'))
  laneSlots.leave()
  await expect(second).rejects.toThrow()
})
