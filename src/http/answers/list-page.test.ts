import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createId } from '../../kernel/identifiers.ts'
import { listAnswer, parsePageRequest } from './list-page.ts'

test('a list sends the same entries under data and under its name', () => {
  const items = [{ id: createId() }, { id: createId() }]
  const answer = listAnswer('keys', { items, total: 5, hasMore: true }, ({ id }) => ({ id }))
  expect(answer).toEqual({
    object: 'list',
    data: items,
    keys: items,
    total: 5,
    has_more: true,
    next_cursor: items[1]?.id,
  })
})

test('the last page has no cursor', () => {
  const answer = listAnswer('keys', { items: [{ id: createId() }], total: 1, hasMore: false }, (item) => item)
  expect(answer.next_cursor).toBe(null)
  expect(listAnswer('keys', { items: [], total: 0, hasMore: false }, (item) => item).next_cursor).toBe(null)
})

test('a page has twenty entries by default', () => {
  expect(parsePageRequest({})).toEqual({ limit: 20, afterId: null })
})

test('an invalid cursor is refused by name', () => {
  fc.assert(
    fc.property(fc.string(), (after) => {
      expect(() => parsePageRequest({ after })).toThrow(
        expect.objectContaining({ code: 'invalid_value', param: 'after' }),
      )
    }),
  )
})

test('every cursor that a list returns is accepted', () => {
  const id = createId()
  const { next_cursor: after } = listAnswer(
    'keys',
    { items: [{ id }], total: 2, hasMore: true },
    (item) => item,
  )
  expect(parsePageRequest({ after: String(after), limit: 1 })).toEqual({ limit: 1, afterId: id })
})
