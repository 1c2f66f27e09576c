import type { AudioShape } from './audio-writer.ts'
import { composeMusic } from './compose-music.ts'
import { MUSIC_SAMPLE_RATE, synthesizeMusic } from './synthesize-music.ts'
import { createMp3Writer } from './write-mp3.ts'
import { createWavWriter } from './write-wav.ts'

export interface MusicRendering {
  readonly kind: 'music'
  readonly prompt: string
  readonly seedText: string
  readonly isSung: boolean
  readonly durationSeconds: number
  readonly format: 'mp3' | 'wav'
}

/** Renders a complete music file. It takes seconds, so it must run in a separate thread. */
export async function renderMusic(rendering: MusicRendering): Promise<Uint8Array> {
  const shape: AudioShape = {
    sampleRate: MUSIC_SAMPLE_RATE,
    channelCount: 2,
    sampleCount: Math.round(rendering.durationSeconds * MUSIC_SAMPLE_RATE),
    comment: `Parkway sandbox music: ${rendering.prompt.slice(0, 1000)}`,
  }
  const writer = rendering.format === 'wav' ? createWavWriter(shape) : await createMp3Writer(shape)
  const parts = [writer.begin()]
  for (const block of synthesizeMusic(composeMusic(rendering), rendering.durationSeconds))
    parts.push(writer.write(block))
  parts.push(writer.end())
  return Buffer.concat(parts)
}
