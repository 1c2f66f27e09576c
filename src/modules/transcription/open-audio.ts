import { open } from 'node:fs/promises'
import { AppError, invalidValue } from '../../kernel/app-error.ts'
import type { AudioFile } from '../../providers/media/audio-operations.ts'
import { measureDuration } from './measure-duration.ts'
import { AUDIO_FORMATS, HEAD_BYTES, recogniseAudio, type AudioFormat } from './recognise-audio.ts'

export const AUDIO_BYTES_MAX = 25 * 1024 * 1024
/** The limit on the duration. A file that claims more is wrong or too long to process. */
export const DURATION_SECONDS_MAX = 24 * 60 * 60

/** An uploaded file. */
export interface GivenAudio {
  readonly path: string
  readonly filename: string
  readonly bytes: number
}

/** Determines format and duration from the content of the file, not from the filename or the client's claims. */
export async function openAudio({ path, filename, bytes }: GivenAudio): Promise<AudioFile> {
  if (bytes === 0) throw invalidValue('file', 'The file is empty.')
  if (bytes > AUDIO_BYTES_MAX) {
    const message = `'file' is larger than ${AUDIO_BYTES_MAX / (1024 * 1024)} MB.`
    throw new AppError('request_too_large', message, { param: 'file' })
  }
  const format = recogniseAudio(await readHead(path))
  if (format === null) {
    const message = `The file is none of the accepted kinds of audio: ${ACCEPTED.join(', ')}.`
    throw invalidValue('file', message)
  }
  const durationSeconds = await measureDuration({ path, bytes, format })
  if (durationSeconds === null)
    throw invalidValue('file', `The ${format} file is damaged: how long it plays cannot be measured.`)
  if (durationSeconds > DURATION_SECONDS_MAX)
    throw invalidValue('file', 'The file plays for more than a day.')
  return {
    path,
    filename: nameFile(filename, format),
    contentType: AUDIO_FORMATS[format].contentType,
    bytes,
    // Sums over thousands of frames are not exact beyond milliseconds.
    durationSeconds: Math.round(durationSeconds * 1000) / 1000,
  }
}

const ACCEPTED = ['flac', 'mp3', 'mp4', 'mpeg', 'mpga', 'm4a', 'ogg', 'wav', 'webm']

// Upstreams rely on the extension, which may be missing or wrong.
function nameFile(filename: string, format: AudioFormat): string {
  const [, stem = '', extension = ''] = /^(.*?)(?:\.([^.]*))?$/s.exec(filename) ?? []
  const { extensions } = AUDIO_FORMATS[format]
  if (extensions.includes(extension.toLowerCase())) return filename
  return `${stem === '' ? 'audio' : stem}.${extensions[0]}`
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
