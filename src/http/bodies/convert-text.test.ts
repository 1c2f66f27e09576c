import * as fc from 'fast-check'
import { Type, type TSchema } from 'typebox'
import { describe, expect, test } from 'vitest'
import { convertText } from './convert-text.ts'

const convert = (schema: TSchema, value: unknown): unknown => convertText(schema, value)

describe('convertText', () => {
  test.each(['true', '0x5', '1e1', ' 5', '5 ', '+5', '5.0', '05', '', 'Infinity', '٣'])(
    '%j is not an integer',
    (text) => {
      expect(convert(Type.Integer(), text)).toBe(text)
    },
  )

  test.each(['0x5', ' 5', '+5', '5.', '.5', '', 'NaN', 'Infinity', 'true'])('%j is not a number', (text) => {
    expect(convert(Type.Number(), text)).toBe(text)
  })

  test.each(['1', '0', 'TRUE', 'yes', '', ' true'])('%j is not a boolean', (text) => {
    expect(convert(Type.Boolean(), text)).toBe(text)
  })

  test('values in JSON notation are read', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true })),
        (value) => {
          expect(convert(Type.Number(), JSON.stringify(value))).toBe(value + 0)
          if (Number.isInteger(value) && Math.abs(value) < 1e15)
            expect(convert(Type.Integer(), JSON.stringify(value))).toBe(value + 0)
        },
      ),
    )
    expect(convert(Type.Boolean(), 'false')).toBe(false)
    expect(convert(Type.Union([Type.Integer(), Type.Null()]), 'null')).toBeNull()
  })

  test('a text stays a text if the schema takes a text', () => {
    expect(convert(Type.Union([Type.String(), Type.Integer()]), '5')).toBe('5')
    expect(convert(Type.Union([Type.Literal('auto'), Type.Integer()]), 'auto')).toBe('auto')
    expect(convert(Type.Union([Type.Literal('auto'), Type.Integer()]), '5')).toBe(5)
  })

  test('a choice of numbers is read, and any other value stays text', () => {
    const schema = Type.Union([Type.Enum([2, 4]), Type.Null()])
    expect(convert(schema, '2')).toBe(2)
    expect(convert(schema, '3')).toBe('3')
    expect(convert(schema, ' 2')).toBe(' 2')
    expect(convert(Type.Enum(['2', 4]), '2')).toBe('2')
  })

  test('members and items are converted by their own schemas, and others are left unchanged', () => {
    const schema = Type.Object({ n: Type.Integer(), list: Type.Array(Type.Number()) })
    expect(convert(schema, { n: '1', list: ['1.5', 'x'], other: '1' })).toEqual({
      n: 1,
      list: [1.5, 'x'],
      other: '1',
    })
  })
})
