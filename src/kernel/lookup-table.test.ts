import { describe, expect, test } from 'vitest'
import { emptyRecord, lookupTable } from './lookup-table.ts'

describe('a lookup table', () => {
  test('finds its own names and no others', () => {
    const table = lookupTable({ a: 1, toString: 2 })
    expect([table['a'], table['toString']]).toEqual([1, 2])
    for (const name of ['constructor', '__proto__', 'hasOwnProperty', 'valueOf'])
      expect([name, table[name]]).toEqual([name, undefined])
  })

  test('takes members of any name', () => {
    const record = emptyRecord<number>()
    record['__proto__'] = 1
    expect(Object.entries(record)).toEqual([['__proto__', 1]])
  })
})
