import { assert, property, uint8Array } from 'fast-check'
import { expect, it } from 'vitest'
import { recogniseMedia } from './recognise-media.ts'
import { HEADS, sampleFile } from '../../modules/media/testing/sample-files.ts'

it.each(Object.keys(HEADS))('a file of the form %s is recognised', (extension) => {
  expect(recogniseMedia(sampleFile(extension))).toBe(extension)
})

it.each([
  ['sound that begins with a frame of layer III', [0xff, 0xfb, 0x90, 0x64], 'mp3'],
  ['sound of MPEG 2', [0xff, 0xf3, 0x44, 0xc4], 'mp3'],
  ['sound with a checksum in its frames', [0xff, 0xf0, 0x50, 0x80], 'aac'],
  ['an image meant as a picture and readable as AVIF', brandOf('mif1', 'avif'), 'avif'],
  ['a film that begins with its data', [0, 0, 0, 8, ...Buffer.from('wide')], 'mov'],
  ['a wave of more than four gigabytes', [...Buffer.from('RF64\xff\xff\xff\xffWAVE', 'latin1')], 'wav'],
])('%s is recognised', (_name, bytes, extension) => {
  expect(recogniseMedia(Uint8Array.from(bytes))).toBe(extension)
})

it.each([
  ['a page', Buffer.from('<!doctype html><script>alert(1)</script>')],
  ['a drawing with scripts', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['an answer in JSON', Buffer.from('{"error":"gone"}')],
  ['a document', Buffer.from('%PDF-1.7')],
  ['a picture of a telephone', Buffer.from(brandOf('heic', 'mif1', 'heic'))],
  ['a film of Matroska', Buffer.from('\x1a\x45\xdf\xa3\x93\x42\x82\x88matroska', 'latin1')],
  ['a film in Ogg', Buffer.from(`OggS\0\x02${'\0'.repeat(20)}\x01\x2a\x80theora`, 'latin1')],
  ['another RIFF', Buffer.from('RIFF\x10\x20\x30\x40AVI LIST', 'latin1')],
  ['text in UTF-16', Buffer.from([0xff, 0xfe, 0x41, 0x00])],
  ['nothing', Buffer.alloc(0)],
  ['one byte', Buffer.from([0xff])],
])('%s is not recognised', (_name, bytes) => {
  expect(recogniseMedia(bytes)).toBeNull()
})

it('any bytes are handled without an error', () => {
  assert(
    property(uint8Array({ maxLength: 64 }), (bytes) => {
      const extension = recogniseMedia(bytes)
      expect(extension === null || extension in HEADS).toBe(true)
    }),
  )
})

function brandOf(...brands: [string, ...string[]]): number[] {
  const [major, ...others] = brands
  const text = `ftyp${major}\0\0\0\0${others.join('')}`
  return [0, 0, 0, text.length + 4, ...Buffer.from(text, 'latin1')]
}
