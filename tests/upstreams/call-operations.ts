import { Cancellation } from '../../src/kernel/cancellation.ts'
import type {
  AudioFile,
  SpeechAnswer,
  SpeechCall,
  TranscriptionCall,
} from '../../src/providers/media/audio-operations.ts'
import type { MediaCall } from '../../src/providers/media/media-operation.ts'
import type { SpeechWork } from '../../src/providers/media/media-work.ts'
import type { InferenceAnswer, InferenceCall } from '../../src/providers/provider.ts'

const COMMON = {
  requestId: 'req_test',
  timeouts: { connectMs: 5_000, firstByteMs: 10_000, idleMs: 10_000 },
}

/** Creates a call of a JSON operation as a module makes it. */
export function createInferenceCall<Body>(
  body: Body,
  upstreamModel: string,
  cancellation = new Cancellation(),
): InferenceCall<Body> {
  return { ...COMMON, body, text: JSON.stringify(body), upstreamModel, canReason: false, cancellation }
}

export function createMediaCall<Work>(
  work: Work,
  upstreamModel: string,
  cancellation = new Cancellation(),
): MediaCall<Work> {
  return { ...COMMON, work, upstreamModel, cancellation }
}

export function createSpeechCall(
  work: Partial<SpeechWork>,
  upstreamModel: string,
  cancellation = new Cancellation(),
): SpeechCall {
  return {
    ...COMMON,
    work: {
      kind: 'speech',
      input: 'Hello there',
      voice: 'alloy',
      format: 'mp3',
      speed: 1,
      instructions: null,
      language: null,
      ...work,
    },
    upstreamModel,
    cancellation,
  }
}

export function createTranscriptionCall(
  audio: AudioFile,
  upstreamModel: string,
  members: Partial<TranscriptionCall> = {},
): TranscriptionCall {
  return {
    ...COMMON,
    audio,
    language: null,
    prompt: null,
    temperature: null,
    withWords: false,
    isTranslation: false,
    upstreamModel,
    cancellation: new Cancellation(),
    ...members,
  }
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
export function payloadOf(answer: InferenceAnswer | undefined): any {
  if (answer?.kind !== 'complete') throw new Error('expected a complete answer')
  return JSON.parse(answer.payload.toString())
}

export async function readSpeech(answer: SpeechAnswer | undefined): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of answer?.chunks ?? []) chunks.push(chunk)
  return Buffer.concat(chunks)
}
