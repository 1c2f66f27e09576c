import { expect, test } from 'vitest'
import { parseLogPosition, PositionHistory } from './position-history.ts'

const at = (position: bigint, asOfMs: number) => ({ position, asOfMs, monotonicMs: asOfMs })

test('positions are read as PostgreSQL writes them', () => {
  expect(parseLogPosition('0/0')).toBe(0n)
  expect(parseLogPosition('16/B374D848')).toBe(0x16_b374_d848n)
  expect(() => parseLogPosition('16')).toThrow('no position')
})

test('a replica knows what was true when the primary was where the replica is', () => {
  const history = new PositionHistory()
  history.note(at(100n, 1))
  history.note(at(200n, 2))
  history.note(at(200n, 3))
  history.note(at(300n, 4))
  expect(history.find(99n)).toBeNull()
  expect(history.find(150n)?.asOfMs).toBe(1)
  expect(history.find(200n)?.asOfMs).toBe(3)
  expect(history.find(9_999n)?.asOfMs).toBe(4)
})

test('a replica that was ahead of the primary is believed only after it moved on', () => {
  const history = new PositionHistory()
  history.note(at(500n, 1))
  expect(history.isPossible(500n, 500n)).toBe(true)
  // Another server was promoted before it had received all.
  expect(history.isPossible(500n, 450n)).toBe(false)
  expect(history.isPossible(500n, 800n)).toBe(false)
  expect(history.find(500n)).toBeNull()
  expect(history.isPossible(600n, 800n)).toBe(true)
})
