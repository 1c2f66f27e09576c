import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { readBytes, readInlineImageSize } from './inline-image-size.ts'

const uri = (bytes: Buffer, type = 'image/png') => `data:${type};base64,${bytes.toString('base64')}`
const bytes = (...parts: readonly (string | readonly number[] | number)[]): Buffer =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'number'
        ? Buffer.alloc(part)
        : typeof part === 'string'
          ? Buffer.from(part, 'latin1')
          : Buffer.from(part),
    ),
  )

describe('the size of an image', () => {
  test.for([
    [
      'PNG',
      bytes([0x89], 'PNG\r\n', [0x1a, 0x0a], [0, 0, 0, 13], 'IHDR', [0, 0, 3, 32], [0, 0, 2, 88], 5000),
    ],
    ['lossy WebP', bytes('RIFF', 4, 'WEBPVP8 ', 4, 3, [0x9d, 0x01, 0x2a], [32, 3], [88, 2], 100)],
    ['lossless WebP', bytes('RIFF', 4, 'WEBPVP8L', 4, [0x2f], [0x1f, 0xc3, 0x95, 0x00], 100)],
    ['extended WebP', bytes('RIFF', 4, 'WEBPVP8X', 4, 4, [31, 3, 0], [87, 2, 0], 100)],
    ['plain JPEG', bytes([0xff, 0xd8, 0xff, 0xe0, 0, 16], 14, [0xff, 0xc0, 0, 17, 8, 2, 88, 3, 32], 100)],
    [
      'JPEG of a camera, with a preview and a colour profile before the picture',
      bytes(
        [0xff, 0xd8, 0xff, 0xe1, 0xff, 0xff],
        65_533,
        [0xff, 0xe2, 0x20, 0],
        8190,
        [0xff, 0xc2, 0, 17, 8, 2, 88, 3, 32],
        100,
      ),
    ],
  ] as const)('is read from a %s', ([, file]) => {
    expect(readInlineImageSize(uri(file))).toMatchObject({ width: 800, height: 600 })
  })

  test.for([
    ['no data', 'data:image/png;base64,'],
    ['no comma', `data:image/png;base64${'A'.repeat(1000)}`],
    ['text that is not base64', `data:image/svg+xml,${'%20'.repeat(100)}`],
    ['a picture of no width', uri(bytes([0x89], 'PNG\r\n', [0x1a, 0x0a], [0, 0, 0, 13], 'IHDR', 8, 100))],
    ['a JPEG that ends before its frame', uri(bytes([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff], 100))],
    ['a JPEG without a frame', uri(bytes([0xff, 0xd8, 0xff, 0xda, 0, 8], 100))],
    [
      'a JPEG that never comes to an end',
      uri(bytes([0xff, 0xd8], 0, ...Array.from({ length: 100 }, () => [0xff, 0xe0, 0, 2]), 9)),
    ],
    ['another format', uri(bytes('GIF89a', 100), 'image/gif')],
  ] as const)('is unknown for %s', ([, dataUri]) => {
    expect(readInlineImageSize(dataUri)).toBeNull()
  })

  test('never throws, whatever the input', () => {
    const heads = fc.constantFrom('', '\xff\xd8', '\x89PNG', 'RIFF____WEBP')
    fc.assert(
      fc.property(heads, fc.uint8Array({ maxLength: 80 }), (head, rest) => {
        expect(() => readInlineImageSize(uri(bytes(head, [...rest])))).not.toThrow()
      }),
    )
  })
})

test('a range of decoded bytes equals that of decoding everything', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(60), fc.nat(20), (all, offset, count) => {
      const text = `prefix${Buffer.from(all).toString('base64')}`
      const expected = Buffer.from(all).subarray(offset, offset + count)
      expect(readBytes(text, 'prefix'.length, offset, count)).toEqual(expected)
    }),
  )
})

test('a JPEG of many short segments is decoded in few pieces', () => {
  const segments = Array.from({ length: 60 }, () => [0xff, 0xe0, 0, 4, 0, 0]).flat()
  const file = uri(bytes([0xff, 0xd8], segments, [0xff, 0xc0, 0, 17, 8, 2, 88, 3, 32], 100))
  const decode = vi.spyOn(Buffer, 'from')
  try {
    expect(readInlineImageSize(file)).toMatchObject({ width: 800, height: 600 })
    expect(decode.mock.calls.length).toBeLessThanOrEqual(2)
  } finally {
    decode.mockRestore()
  }
})
