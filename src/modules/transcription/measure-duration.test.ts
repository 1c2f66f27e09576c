import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { array, assert, asyncProperty, nat, oneof, record, uint8Array } from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  flacOf,
  fragmentedM4aOf,
  longSizesWebmOf,
  m4aOf,
  mp3Of,
  opusOf,
  wavOf,
  webmOf,
} from '../../../tests/audio/audio-files.ts'
import { measureDuration } from './measure-duration.ts'
import type { AudioFormat } from './recognise-audio.ts'
import { BITS_PER_SECOND_MAX, audioSecondsMin } from './audio-seconds-min.ts'
import { removeDirectory } from '../../../tests/support/remove-directory.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parkway-measure-'))
})
afterAll(() => removeDirectory(directory))

let count = 0
const measure = async (format: AudioFormat, bytes: Buffer) => {
  const path = join(directory, String((count += 1)))
  await writeFile(path, bytes)
  return (await measureDuration({ path, bytes: bytes.length, format })) ?? Number.NaN
}

describe('a file with a forged header is as long as before', () => {
  test('a WAV with another byte rate, or a block larger than its samples', async () => {
    const fast = wavOf(300)
    fast.writeUInt32LE(0xffffffff, 28)
    fast.writeUInt16LE(0xffff, 32)
    expect(await measure('wav', fast)).toBeCloseTo(300, 3)
    for (const tag of [6, 7]) {
      fast.writeUInt16LE(tag, 20)
      expect(await measure('wav', fast)).toBeCloseTo(300, 3)
    }
    // An unknown codec cannot use more bits than uncompressed audio.
    fast.writeUInt16LE(0x1234, 20)
    expect(await measure('wav', fast)).toBeGreaterThan(100)
  })

  test('an M4A whose samples claim a duration of zero, complete and in fragments', async () => {
    expect(await measure('mp4', m4aOf(235, { frameUnits: 1 }))).toBeCloseTo(235, 1)
    expect(await measure('mp4', fragmentedM4aOf(235, { frameUnits: 1 }))).toBeCloseTo(235.6, 0)
    expect(await measure('mp4', fragmentedM4aOf(60))).toBeCloseTo(60.2, 0)
  })

  test('a FLAC that claims one sample, or none', async () => {
    expect(await measure('flac', flacOf(120))).toBeCloseTo(120, 0)
    for (const claimedSamples of [0, 1])
      expect(await measure('flac', flacOf(120, { claimedSamples, claimedRate: 655_350 }))).toBeCloseTo(120, 0)
  })

  test('a WebM whose timestamps do not advance, with sizes in eight bytes', async () => {
    expect(await measure('webm', longSizesWebmOf(90))).toBeCloseTo(90, 1)
    expect(await measure('webm', longSizesWebmOf(90, { scale: 1 }))).toBeCloseTo(90, 1)
  })
})

const FILES: Readonly<Record<string, { format: AudioFormat; file: Buffer; bitsMax: number }>> = {
  wav: { format: 'wav', file: wavOf(30), bitsMax: BITS_PER_SECOND_MAX.uncompressed },
  mp3: { format: 'mp3', file: mp3Of(20), bitsMax: BITS_PER_SECOND_MAX.mpeg },
  mp4: { format: 'mp4', file: m4aOf(30), bitsMax: BITS_PER_SECOND_MAX.uncompressed },
  fragments: { format: 'mp4', file: fragmentedM4aOf(30), bitsMax: BITS_PER_SECOND_MAX.uncompressed },
  flac: { format: 'flac', file: flacOf(60), bitsMax: BITS_PER_SECOND_MAX.uncompressed },
  ogg: { format: 'ogg', file: opusOf(40), bitsMax: BITS_PER_SECOND_MAX.lossy },
  webm: { format: 'webm', file: webmOf(60), bitsMax: BITS_PER_SECOND_MAX.uncompressed },
  longSizes: { format: 'webm', file: longSizesWebmOf(60), bitsMax: BITS_PER_SECOND_MAX.uncompressed },
}

describe('whatever its header says, a file', () => {
  test.each(Object.entries(FILES))(
    'whatever its header says, a file of %s is never shorter than its bytes at the highest rate',
    async (_name, { format, file, bitsMax }) => {
      const patch = record({
        at: oneof(nat(200), nat(file.length - 1)),
        bytes: uint8Array({ minLength: 1, maxLength: 8 }),
      })
      await assert(
        asyncProperty(array(patch, { minLength: 1, maxLength: 4 }), async (patches) => {
          const changed = Buffer.from(file)
          for (const { at, bytes } of patches) changed.set(bytes.subarray(0, changed.length - at), at)
          const seconds = await measure(format, changed)
          expect(Number.isNaN(seconds) || seconds >= audioSecondsMin(changed.length, bitsMax)).toBe(true)
        }),
        { numRuns: 60 },
      )
    },
  )
})
