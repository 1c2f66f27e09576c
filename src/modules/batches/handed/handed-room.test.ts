import { expect, test } from 'vitest'
import { HandedRoom } from './handed-room.ts'

function take(room: HandedRoom, lines: number): void {
  for (let line = 0; line < lines; line += 1) room.take(100)
}

test('a batch has so many lines at vendors, and all batches of a process together', () => {
  const all = new HandedRoom()
  const [one, other, third] = [new HandedRoom(all), new HandedRoom(all), new HandedRoom(all)]
  take(one, 5_000)
  expect([one.isFull, other.isFull]).toEqual([true, false])
  take(other, 5_000)
  take(third, 200)
  expect(third.isFull).toBe(true)
  for (let line = 0; line < 201; line += 1) one.give(100)
  expect([one.isFull, third.isFull]).toEqual([false, false])
})

test('a batch gets some lines although others have filled the room, so that nobody waits hours for them', () => {
  const all = new HandedRoom()
  const [one, other, third] = [new HandedRoom(all), new HandedRoom(all), new HandedRoom(all)]
  take(one, 5_000)
  take(other, 5_000)
  expect([one.isFull, third.isFull]).toEqual([true, false])
  take(third, 200)
  expect(third.isFull).toBe(true)
})

test('lines are taken over from a dead worker as a whole, one batch after the other', () => {
  const all = new HandedRoom()
  const batches = Array.from({ length: 3 }, () => new HandedRoom(all))
  const [one, other, third] = batches as [HandedRoom, HandedRoom, HandedRoom]
  expect([one.beginTakeOver(), other.beginTakeOver()]).toEqual([true, false])
  take(one, 6_000)
  expect(one.isFull).toBe(false)
  one.endTakeOver()
  expect([one.isFull, other.beginTakeOver()]).toEqual([true, true])
  take(other, 5_000)
  // The room has more than its limit. A batch that has some of it is never made to wait.
  expect(other.isFull).toBe(false)
  other.endTakeOver()
  expect(third.beginTakeOver()).toBe(false)
  for (let line = 0; line < 2_000; line += 1) other.give(100)
  expect(third.beginTakeOver()).toBe(true)
})

test('a line that has become much longer since it was begun does not fit into a room that is nearly full', () => {
  const room = new HandedRoom(new HandedRoom())
  room.take(15 * 1024 * 1024)
  expect([room.fits(8 * 1024 * 1024), room.fits(20 * 1024 * 1024)]).toEqual([true, false])
})

test('a batch has so many bytes at vendors', () => {
  const room = new HandedRoom(new HandedRoom())
  room.take(15 * 1024 * 1024)
  expect(room.isFull).toBe(false)
  room.take(1024 * 1024)
  expect(room.isFull).toBe(true)
})
