import { expect, test } from 'vitest'
import { Walk } from './walk.ts'

const mapOf = (size: number) => new Map(Array.from({ length: size }, (_, index) => [index, index]))

test('a small map is visited completely each time, in its current state', () => {
  const map = mapOf(3)
  const walk = new Walk(map)
  expect([...walk.next()]).toEqual([0, 1, 2])
  map.set(3, 3)
  map.delete(0)
  expect([...walk.next()]).toEqual([1, 2, 3])
  map.clear()
  expect([...walk.next()]).toEqual([])
})

test('a large map is visited in four parts, each value once, and then again', () => {
  const map = mapOf(20_000)
  const walk = new Walk(map)
  for (let round = 0; round < 2; round += 1) {
    const pieces = Array.from({ length: 4 }, () => [...walk.next()])
    expect(pieces.map(({ length }) => length)).toEqual([5_000, 5_000, 5_000, 5_000])
    expect(pieces.flat()).toEqual([...map.values()])
    expect([...walk.next()]).toEqual([])
  }
})

test('values can be deleted and added during the walk', () => {
  const map = mapOf(12_000)
  const walk = new Walk(map)
  const seen: number[] = []
  for (let piece = 0; piece < 8; piece += 1) {
    for (const value of walk.next()) {
      seen.push(value)
      map.delete(value)
    }
    if (piece === 0) map.set(-1, -1)
  }
  expect(map.size).toBe(0)
  expect(seen.toSorted((one, other) => one - other)).toEqual([-1, ...mapOf(12_000).values()])
})
