import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCsv } from '../../modules/compare/datasets/parse-csv.ts'
import { csvRow } from './csv-row.ts'

describe('a row of CSV', () => {
  test('survives a CSV reader unchanged, and no field begins like a formula', () => {
    const fields = fc.array(fc.string({ unit: 'binary' }), { minLength: 2, maxLength: 6 })
    fc.assert(
      fc.property(fields, (values) => {
        const [read = []] = parseCsv(csvRow(values).replace(/^\uFEFF/, '"\uFEFF"'))
        const wanted = values.map((value) => (/^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value))
        expect(read.slice(1)).toEqual(wanted.slice(1))
        expect(read.filter((field) => /^[=+\-@\t\r\n]/.test(field))).toEqual([])
      }),
    )
  })

  test('keeps numbers unchanged and writes missing values as empty fields', () => {
    expect(csvRow([1.5, null, undefined, '', -3])).toBe('1.5,,,,-3\r\n')
  })
})
