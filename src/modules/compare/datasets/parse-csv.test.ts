import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CsvInvalid, parseCsv } from './parse-csv.ts'

const quoted = (field: string) => `"${field.replaceAll('"', '""')}"`

describe('CSV', () => {
  test('reads back any quoted text', () => {
    const row = fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 })
    const table = fc.array(row, { maxLength: 8 })
    fc.assert(
      fc.property(table, fc.constantFrom('\n', '\r\n', '\r'), (rows, newline) => {
        const text = rows.map((fields) => fields.map(quoted).join(',')).join(newline)
        const kept = rows.filter((fields) => fields.length > 1 || fields[0] !== '')
        expect(parseCsv(text)).toEqual(kept)
      }),
    )
  })

  test.each([
    [
      'plain fields',
      'a,b\nc,d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'empty fields, the last one too',
      'a,,\n,b,',
      [
        ['a', '', ''],
        ['', 'b', ''],
      ],
    ],
    ['no empty lines', '\n\na\r\n\r\n', [['a']]],
    ['what is in front of the first field', '\uFEFFa', [['a']]],
    ['quotes in the middle as they are', 'a "b" c,d', [['a "b" c', 'd']]],
    ['nothing', '', []],
  ])('reads %s', (_, text, rows) => {
    expect(parseCsv(text)).toEqual(rows)
  })

  test.each(['"open', '"a"b', 'a\n"b'])('refuses %s', (text) => {
    expect(() => parseCsv(text)).toThrow(CsvInvalid)
  })
})

test('stops after the requested number of rows, and at a line with too many columns', () => {
  expect(parseCsv('a\n'.repeat(1_000_000), { rowsMax: 10 })).toHaveLength(11)
  expect(() => parseCsv(','.repeat(5_000_000), { columnsMax: 1_000 })).toThrow(CsvInvalid)
})

test('counts empty lines, and reads a field of quotes only', () => {
  expect(() => parseCsv(`a${'\n'.repeat(5_000_000)}`, { linesMax: 1_000 })).toThrow('more than 1000 lines')
  expect(parseCsv(`"${'""'.repeat(100_000)}"`)).toEqual([['"'.repeat(100_000)]])
})
