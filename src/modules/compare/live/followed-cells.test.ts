import { expect, test } from 'vitest'
import { FollowedCells } from './followed-cells.ts'
import type { LiveMessage } from './live-message.ts'

const KEY = { promptIndex: 0, repeat: 0, lanePosition: 0 }
const message = (changed: Partial<LiveMessage>): LiveMessage => ({
  runId: 'run',
  pieces: [],
  ended: [],
  isRunOver: false,
  ...changed,
})
const piece = (offset: number, text: string, attempt = 1) =>
  message({ pieces: [{ ...KEY, attempt, offset, text }] })

test('a piece that was sent before adds only what is new', () => {
  const cells = new FollowedCells()
  cells.add(piece(0, 'Hello'))
  expect(cells.take()).toEqual([{ kind: 'text', key: KEY, offset: 0, text: 'Hello' }])
  cells.add(piece(0, 'Hello, you'))
  expect(cells.take()).toEqual([{ kind: 'text', key: KEY, offset: 5, text: ', you' }])
  cells.add(piece(0, 'Hello'))
  expect(cells.take()).toEqual([])
})

test('a missed message is noticed, and its text comes when it is sent again', () => {
  const cells = new FollowedCells()
  cells.add(piece(0, 'one '))
  cells.add(piece(8, 'three'))
  expect([cells.hasGap, cells.takeGap(), cells.takeGap()]).toEqual([true, true, false])
  cells.add(piece(0, 'one two three'))
  expect(cells.take()).toEqual([{ kind: 'text', key: KEY, offset: 0, text: 'one two three' }])
})

test('a new try begins the text anew, and late pieces of the old one are ignored', () => {
  const cells = new FollowedCells()
  cells.add(piece(0, 'first try'))
  cells.take()
  cells.add(piece(0, 'second', 2))
  cells.add(piece(9, ' goes on'))
  expect(cells.take()).toEqual([{ kind: 'text', key: KEY, offset: 0, text: 'second' }])
  expect(cells.hasGap).toBe(false)
})

test('a cell that has ended is reported without the rest of its text, which the results have', () => {
  const cells = new FollowedCells()
  cells.add(piece(0, 'unread'))
  cells.add(message({ ended: [{ ...KEY, status: 'completed' }] }))
  expect(cells.take()).toEqual([{ kind: 'cell', key: KEY, status: 'completed' }])
  expect(cells.take()).toEqual([])
})
