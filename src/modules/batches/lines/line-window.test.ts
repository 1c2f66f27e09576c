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
