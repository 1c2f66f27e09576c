import { describe, expect, test } from 'vitest'
import { widthOf } from '../../cli/output/text-width.ts'
import { createWrappedWriter } from '../../cli/output/wrapped-writer.ts'

/** Writes a text in pieces of every length, which must all give the same. */
function wrap(text: string, columns: number): string {
  const results = [1, 2, 3, 7, text.length].map((length) => {
    let written = ''
    const writer = createWrappedWriter({ write: (part) => (written += part), columns: () => columns })
    for (let at = 0; at < text.length; at += length) writer.write(text.slice(at, at + length))
    writer.flush()
    return written
  })
  expect(new Set(results).size).toBe(1)
  return results[0] ?? ''
}

describe('text that arrives in pieces', () => {
  test('is broken between words', () => {
    expect(wrap('the quick brown fox jumps', 10)).toBe('the quick\nbrown fox\njumps')
    expect(wrap('exactly 10 wide', 10)).toBe('exactly 10\nwide')
    expect(wrap('a\n\nb  c\n', 10)).toBe('a\n\nb  c\n')
  })

  test('has words longer than a line cut at the edge', () => {
    expect(wrap('a abcdefghijklmnop b', 6)).toBe('a\nabcdef\nghijkl\nmnop b')
  })

  test('counts wide and combining characters by the columns that they take', () => {
    expect(wrap('日本語の文章です', 6)).toBe('日本語\nの文章\nです')
    expect([widthOf('日本'), widthOf('e\u0301'), widthOf('👍🏽'), widthOf('❤️'), widthOf('abc')]).toEqual([
      4, 1, 2, 2, 3,
    ])
  })

  test('keeps lines of code as they are', () => {
    const code = '```js\nconst answer = await ask(question)\n```\nthe end of it'
    expect(wrap(code, 10)).toBe('```js\nconst answer = await ask(question)\n```\nthe end of\nit')
  })
})
