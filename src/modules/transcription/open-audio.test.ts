import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { m4aOf, mp3Of, opusOf, wavOf, webmOf, xingFrame } from '../../../tests/audio/audio-files.ts'
import { openAudio } from './open-audio.ts'
import { removeDirectory } from '../../../tests/support/remove-directory.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parkway-audio-'))
})
afterAll(() => removeDirectory(directory))

let count = 0
const open = async (bytes: Buffer, filename = '') => {
  const path = join(directory, String((count += 1)))
  await writeFile(path, bytes)
  return openAudio({ path, filename, bytes: bytes.length })
}

describe('an audio file', () => {
  test('is measured, and named by its type', async () => {
    expect(await open(wavOf(2.5), 'talk')).toMatchObject({
      durationSeconds: 2.5,
      contentType: 'audio/wav',
      filename: 'talk.wav',
    })
    expect(await open(mp3Of(10), 'a.MPGA')).toMatchObject({ contentType: 'audio/mpeg', filename: 'a.MPGA' })
    expect((await open(mp3Of(10))).durationSeconds).toBeCloseTo(10, 1)
    expect(await open(webmOf(7))).toMatchObject({ contentType: 'audio/webm', filename: 'audio.webm' })
    expect((await open(webmOf(7))).durationSeconds).toBeCloseTo(7, 5)
  })

  test('is not accepted as shorter than it is', async () => {
    expect((await open(mp3Of(60, xingFrame(3)))).durationSeconds).toBeGreaterThan(59)
    expect((await open(opusOf(60))).durationSeconds).toBeCloseTo(60, 6)
    expect((await open(m4aOf(60))).durationSeconds).toBeCloseTo(60, 1)
    const cut = wavOf(60)
    cut.writeUInt32LE(8, 40)
    expect((await open(cut)).durationSeconds).toBeGreaterThan(50)
  })

  test('an audio file whose header is behind a large image is measured', async () => {
    const tag = Buffer.alloc(10 + 100_000)
    tag.write('ID3')
    tag.set([4, 0, 0, 0, 6, 13, 32], 3)
    expect((await open(mp3Of(3, tag))).durationSeconds).toBeCloseTo(3, 1)
  })

  test('an audio file that is not audio, or cannot be measured, is refused with the name of the field', async () => {
    const refused = [
      Buffer.alloc(0),
      Buffer.from('hello, this is text'),
      Buffer.from('RIFF....WAVE'),
      Buffer.from('fLaC but no more'),
      Buffer.from('OggS but no more'),
      Buffer.from('....ftypM4A and no more'),
      Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x9f]),
      Buffer.from('ID3\u0004 and no frame'),
    ]
    for (const bytes of refused)
      await expect(open(bytes)).rejects.toMatchObject({ code: 'invalid_value', param: 'file' })
  })
})
