import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { Queryable } from '../../../storage/database.ts'
import { LineWindow } from './line-window.ts'

test('a line that waits keeps its own bytes in memory, and not those of its neighbours', async () => {
  const file = Buffer.alloc(2 * 1024 * 1024, 'x')
  const rowOf = (number: number, first_byte: number, bytes: number) => ({ number, first_byte, bytes })
  const rows = [rowOf(1, 0, 20_000), rowOf(2, 20_001, file.length - 20_001)]
  const queryable = { query: async () => rows } as unknown as Queryable
  const window = new LineWindow(queryable, 'b', async () => Readable.from([file]))
  await window.fill()
  const line = window.take(Infinity)
  expect(line?.content?.equals(file.subarray(0, 20_000))).toBe(true)
  expect(line?.content?.buffer.byteLength).toBeLessThan(100_000)
})

test('lines that were never begun are begun together, and given back when they are not asked', async () => {
  const rowOf = (number: number, tries: number) => ({ number, first_byte: number * 10, bytes: 9, tries })
  const queryable = { query: async () => [rowOf(1, 0), rowOf(2, 0), rowOf(3, 1)] } as unknown as Queryable
  const givenBack: (readonly number[])[] = []
  const ahead = {
    beginAll: async (numbers: readonly number[]) =>
      new Map(numbers.map((number) => [number, `id ${number}`])),
    giveBack: async (numbers: readonly number[]) => void givenBack.push(numbers),
  }
  const file = async () => Readable.from([Buffer.alloc(40)])
  const window = new LineWindow(queryable, 'b', file, { ahead })
  await window.fill()
  expect(window.take(Infinity)?.requestId).toBe('id 1')
  await window.close()
  expect(givenBack).toEqual([[2]])
  expect([window.take(Infinity), window.take(Infinity)].map((line) => line?.requestId)).toEqual([null, null])
})
