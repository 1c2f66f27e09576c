import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitLines, type RawLine } from './split-lines.ts'

async function* inPieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0
  for (const size of sizes) {
    yield bytes.subarray(at, at + size)
    at += size
  }
  yield bytes.subarray(at)
}

async function split(text: string, sizes: readonly number[] = [], lineBytesMax = 1_000): Promise<RawLine[]> {
  const lines: RawLine[] = []
  for await (const line of splitLines(inPieces(Buffer.from(text), sizes), lineBytesMax)) lines.push(line)
  return lines
}

test('each line is found where it stands in the file, however the file arrives', async () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'é', '{', '"', ' ', '\r'), maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 8 }),
      fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 8 }),
      fc.boolean(),
      async (lines, sizes, hasMark) => {
        const text = (hasMark ? '\uFEFF' : '') + lines.join('\n')
        const bytes = Buffer.from(text)
        const found = await split(text, sizes)
        const wanted = lines.flatMap((one, index) => {
          const shown = one.endsWith('\r') ? one.slice(0, -1) : one
          return /^[ \t]*$/.test(shown) ? [] : [{ number: index + 1, shown }]
        })
        expect(found.map(({ number, content }) => ({ number, shown: content?.toString() }))).toEqual(wanted)
        for (const { firstByte, bytes: length, content } of found)
          expect(bytes.subarray(firstByte, firstByte + length).equals(content ?? Buffer.alloc(0))).toBe(true)
      },
    ),
  )
})

test('a line that is too long has no content, and the lines behind it are found', async () => {
  const found = await split(`${'x'.repeat(20)}\nb`, [3, 9], 10)
  expect(found.map(({ number, bytes, content }) => [number, bytes, content?.toString()])).toEqual([
    [1, 20, undefined],
    [2, 1, 'b'],
  ])
})
