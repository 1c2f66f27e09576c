import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SpeechOperation } from '../../../media/audio-operations.ts'
import type { AudioFormat, SpeechWork } from '../../../media/media-work.ts'
import { damageStream } from '../../faults/inject-fault.ts'
import type { AudioShape, AudioWriter } from './audio-writer.ts'
import { beginCall, type SandboxParts } from '../begin-call.ts'
import { refuseRequest } from '../refuse-request.ts'
import { writeSpeechTag } from './speech-tag.ts'
import { countSpeechSamples, SPEECH_SAMPLE_RATE, synthesizeSpeech } from './synthesize-speech.ts'
import { findPitchHz, SANDBOX_VOICES } from './voices.ts'
import { createFlacWriter } from './write-flac.ts'
import { createMp3Writer } from './write-mp3.ts'
import { createPcmWriter, createWavWriter } from './write-wav.ts'

const SPEED_MIN = 0.25
const SPEED_MAX = 4

/** Streams tones with the rhythm of the text, at the pitch of the requested voice. */
export function createSpeech(parts: SandboxParts): SpeechOperation {
  return {
    async speak(call) {
      const { work, cancellation } = call
      const { text, fault, faultContext } = await beginCall(parts, work.input, call)
      const createWriter = WRITERS[work.format]
      if (createWriter === null)
        throw refuseRequest(
          `The sandbox has no encoder for ${work.format}. Ask it for mp3, flac, wav or pcm; a provider that is configured makes ${work.format}.`,
          'response_format',
        )
      const speed = Math.min(SPEED_MAX, Math.max(SPEED_MIN, work.speed))
      const writer = await createWriter({
        sampleRate: SPEECH_SAMPLE_RATE,
        channelCount: 1,
        sampleCount: countSpeechSamples(text, speed),
        comment: writeSpeechTag(text),
      })
      const batches = streamSpeech({ work, text, speed, writer }, cancellation.signal)
      const damaged = fault
        ? damageStream(fault, batches, (filler) => Buffer.from(filler), faultContext)
        : batches
      return { contentType: writer.contentType, chunks: flatten(damaged) }
    },
    voices: async () => SANDBOX_VOICES,
  }
}

type CreateWriter = (shape: AudioShape) => AudioWriter | Promise<AudioWriter>

/** Null if the sandbox has no encoder: another codec under the same name would break readers. */
const WRITERS: Readonly<Record<AudioFormat, CreateWriter | null>> = {
  mp3: createMp3Writer,
  opus: null,
  aac: null,
  flac: createFlacWriter,
  wav: createWavWriter,
  pcm: createPcmWriter,
}

interface Telling {
  readonly work: SpeechWork
  readonly text: string
  readonly speed: number
  readonly writer: AudioWriter
}

async function* streamSpeech(
  { work, text, speed, writer }: Telling,
  signal: AbortSignal,
): AsyncGenerator<Buffer[], void> {
  const pieces = synthesizeSpeech({
    text,
    speed,
    pitchHz: findPitchHz(work.voice),
    seedText: JSON.stringify([text, work.voice, work.instructions, work.language]),
  })
  yield* batchOf(writer.begin())
  for (const samples of pieces) {
    yield* batchOf(writer.write([samples]))
    // Without this, a reader that is always ready would block all other requests.
    await nextTurn()
    signal.throwIfAborted()
  }
  yield* batchOf(writer.end())
}

function* batchOf(bytes: Uint8Array): Generator<Buffer[]> {
  if (bytes.length > 0) yield [Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)]
}

async function* flatten(batches: AsyncGenerator<Buffer[], void>): AsyncGenerator<Uint8Array, void> {
  for await (const batch of batches) yield* batch
}
