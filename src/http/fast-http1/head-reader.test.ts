import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HeadReader } from './head-reader.ts'
import { readHead } from './read-head.ts'

const headOf = (...fields: string[]) =>
  ['POST /v1/chat/completions HTTP/1.1', 'host: x', 'content-length: 2', ...fields].join('\r\n')

describe('the next head on a connection', () => {
  test('is the same object if nothing changed', () => {
    const reader = new HeadReader()
    const head = reader.read(headOf('x-a: 1'))
    expect(head).toEqual(readHead(headOf('x-a: 1')))
    expect(reader.read(headOf('x-a: 1'))).toBe(head)
  })

  test('has the changes, and leaves the previous one unchanged', () => {
    const reader = new HeadReader()
    const first = reader.read(headOf('Authorization: Bearer one', 'x-a: 1'))
    const second = reader.read(headOf('Authorization: Bearer another', 'x-a: 1'))
    expect(first?.headers.authorization).toBe('Bearer one')
    expect(second?.headers).toEqual({ ...first?.headers, authorization: 'Bearer another' })
  })

  test.each([
    ['a field more', headOf('x-a: 1', 'x-b: 2', 'x-c: 3')],
    ['a field less', headOf('x-a: 1')],
    ['another order', headOf('x-b: 2', 'x-a: 1')],
    ['another name', headOf('x-a: 1', 'x-c: 2')],
    ['a name twice', headOf('x-a: 1', 'x-a: 2')],
    ['a longer value', headOf('x-a: 12', 'x-b: 2')],
    ['a shorter value', headOf('x-a:', 'x-b: 2')],
    ['the name in large letters', headOf('X-A: 1', 'x-b: 2')],
    ['another path', headOf('x-a: 1', 'x-b: 2').replace('chat', 'other')],
    ['another length', headOf('x-a: 1', 'x-b: 2').replace('length: 2', 'length: 23')],
    ['no length', headOf('x-a: 1', 'x-b: 2').replace('length: 2', 'length: +2')],
    ['a carriage return of its own', headOf('x-a: 1\rxx-b: 2')],
    ['a carriage return at the end', headOf('x-a: 1', 'x-b: 2\r')],
    ['a line feed of its own', headOf('x-a: 1\nx-b: 2')],
    ['an empty line', headOf('x-a: 1', '', 'x-b: 2')],
  ])('is parsed like a first head if it has %s', (_name, text) => {
    const reader = new HeadReader()
    expect(reader.read(headOf('x-a: 1', 'x-b: 2'))).not.toBeNull()
    expect(reader.read(text)).toEqual(readHead(text))
    expect(reader.read(headOf('x-a: 1', 'x-b: 2'))).toEqual(readHead(headOf('x-a: 1', 'x-b: 2')))
  })

  test('is parsed like a first head, whatever preceded it', () => {
    const name = fc.constantFrom('x-a', 'X-A', 'x-b', '5', 'connection', 'expect')
    const value = fc.constantFrom('1', '12', '', 'keep-alive', 'close', '1\r', '\n', '1\rx-b: 1')
    const field = fc.tuple(name, fc.constantFrom(':', ': ', ' :'), value).map((parts) => parts.join(''))
    const first = fc.constantFrom('POST /a HTTP/1.1', 'POST /ab HTTP/1.1')
    const usual = fc.constantFrom('host: x', 'host: xy', 'content-length: 2', 'content-length: 24')
    const head = fc
      .tuple(first, usual, usual, fc.array(field, { maxLength: 3 }))
      .map(([line, one, two, fields]) => [line, one, two, ...fields].join('\r\n'))
    fc.assert(
      fc.property(fc.array(head, { minLength: 2, maxLength: 6 }), (heads) => {
        const reader = new HeadReader()
        for (const text of heads) expect(reader.read(text)).toEqual(readHead(text))
      }),
      { numRuns: 5_000 },
    )
  })
})
