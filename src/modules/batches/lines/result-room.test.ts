import { expect, test } from 'vitest'
import { ResultRoom } from './result-room.ts'

test('no further line is asked once the answers take what those of a batch may, with those of earlier workers', () => {
  const room = new ResultRoom(60, 100)
  expect(room.add(39)).toBeNull()
  expect(room.add(1)?.message).toContain('in another batch')
  expect(new ResultRoom(100, 100).add(0)).not.toBeNull()
})

test('lines that wait for a vendor take the room that their answers may need, and none waits for them alone', () => {
  const room = new ResultRoom(900, 1_000)
  expect([room.isTight, room.isFull]).toEqual([false, false])
  room.expect(50)
  expect(room.isTight).toBe(false)
  room.expect(50)
  expect([room.isTight, room.isFull]).toEqual([true, false])
  room.forget(100)
  expect(room.isTight).toBe(false)
  room.add(100)
  expect(room.isFull).toBe(true)
})
