import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AudioFile } from '../../src/providers/media/audio-operations.ts'
import type { RecordedRequest } from './scripted-server.ts'
import { removeDirectory } from '../support/remove-directory.ts'

export const AUDIO_BYTES = Buffer.from('RIFF and some sound')

/** Writes an uploaded file as the transcription module passes it to a provider. */
export async function writeAudioFile(): Promise<{ audio: AudioFile; remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-audio-'))
  const path = join(directory, 'upload')
  await writeFile(path, AUDIO_BYTES)
  return {
    audio: {
      path,
      filename: 'speech "one".wav',
      contentType: 'audio/wav',
      bytes: AUDIO_BYTES.length,
      durationSeconds: 1.5,
    },
    remove: () => removeDirectory(directory),
  }
}

/** Parses the form that a server received. */
export async function readForm({ bytes, headers }: RecordedRequest): Promise<FormData> {
  const type = headers['content-type'] ?? ''
  return new Response(Uint8Array.from(bytes), { headers: { 'content-type': type } }).formData()
}
