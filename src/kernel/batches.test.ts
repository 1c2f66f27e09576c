import { describe, expect, it } from 'vitest'
import { Batches } from './batches.ts'

describe('batches', () => {
  it('process entries that arrive during a batch together, in order', async () => {
    const performed: number[][] = []
    const batches = new Batches<number, number>(async (items) => {
      performed.push([...items])
      await Promise.resolve()
      return items.map((item) => item * 10)
    }, 3)
    const results = await Promise.all([1, 2, 3, 4, 5].map((item) => batches.add(item)))
    expect(results).toEqual([10, 20, 30, 40, 50])
    expect(performed).toEqual([
      [1, 2, 3],
      [4, 5],
    ])
  })

  it('report a failed batch to all its entries, and continue with the next', async () => {
    const batches = new Batches<string, string>(async (items) => {
      if (items.includes('bad')) throw new Error('no')
      return items
    }, 2)
    const results = await Promise.allSettled(['good', 'bad', 'fine'].map((item) => batches.add(item)))
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  })

  it('process entries that arrive at the end of the previous batch', async () => {
    const batches = new Batches<number, number>(async (items) => items, 10)
    const results: number[] = []
    for (let item = 0; item < 100; item += 1) results.push(await batches.add(item))
    expect(results).toHaveLength(100)
  })
})
