import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readImageSize as readParts } from './read-image-size.ts'

const readImageSize = (bytes: Buffer) => readParts((offset, count) => bytes.subarray(offset, offset + count))
const size = fc.integer({ min: 1, max: 0x3fff })

function png(width: number, height: number): Buffer {
  const bytes = Buffer.from('89504e470d0a1a0a0000000d4948445200000000000000000806000000', 'hex')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

function gif(width: number, height: number): Buffer {
  const bytes = Buffer.from('GIF89a\0\0\0\0\0\0\0', 'latin1')
  bytes.writeUInt16LE(width, 6)
  bytes.writeUInt16LE(height, 8)
  return bytes
}

function jpeg(width: number, height: number): Buffer {
  const metadata = Buffer.concat([
    Buffer.from('ffe1', 'hex'),
    Buffer.from([0x27, 0x12]),
    Buffer.alloc(0x2710, 0xff),
  ])
  const tables = Buffer.from('ffdb000400', 'hex')
  const frame = Buffer.from('ffc200110800000000031100', 'hex')
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  return Buffer.concat([Buffer.from('ffd8', 'hex'), metadata, tables, Buffer.from('00', 'hex'), frame])
}

function webp(encoding: 'VP8 ' | 'VP8L' | 'VP8X', width: number, height: number): Buffer {
  const bytes = Buffer.alloc(40)
  bytes.write('RIFF', 0, 'latin1')
  bytes.write(`WEBP${encoding}`, 8, 'latin1')
  if (encoding === 'VP8X') {
    bytes.writeUIntLE(width - 1, 24, 3)
    bytes.writeUIntLE(height - 1, 27, 3)
  } else if (encoding === 'VP8L') {
    bytes.writeUInt32LE(((height - 1) << 14) | (width - 1), 21)
  } else {
    bytes.writeUInt16LE(width, 26)
    bytes.writeUInt16LE(height, 28)
  }
  return bytes
}

test.for([
  ['PNG', png],
  ['GIF', gif],
  ['JPEG', jpeg],
  ['WebP', webp.bind(null, 'VP8 ')],
  ['WebP', webp.bind(null, 'VP8L')],
  ['WebP', webp.bind(null, 'VP8X')],
] as const)('the size of a %s is read from its header', ([format, write]) => {
  fc.assert(
    fc.property(size, size, (width, height) => {
      expect(readImageSize(write(width, height))).toEqual({ format, width, height })
    }),
  )
})

test('any other bytes do not make it throw', () => {
  const starts = [png(1, 1), gif(1, 1), jpeg(1, 1).subarray(0, 20), webp('VP8X', 1, 1), Buffer.alloc(0)]
  fc.assert(
    fc.property(fc.constantFrom(...starts), fc.nat(40), fc.uint8Array(), (start, length, rest) => {
      readImageSize(Buffer.concat([start.subarray(0, length), rest]))
    }),
  )
  expect(readImageSize(Buffer.from('not a picture at all, only words'))).toBeNull()
})
