import { Type, type Static } from 'typebox'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { InferenceRecord } from '../../../modules/inference/inference.ts'
import { AUDIO_FORMATS, type SpeechWork } from '../../../providers/media/media-work.ts'
import { described } from '../../../wires/described.ts'
import { nullable } from '../../../wires/nullable.ts'
import { TaskMembers } from '../../paid/run-generation.ts'

const VoiceId = Type.String({ minLength: 1, maxLength: 256 })

/** The first voice in OpenAI's list. */
const VOICE_DEFAULT = 'alloy'

export const SpeechRequest = Type.Object(
  {
    model: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'A model id from `GET /v1/models?category=tts`.',
    }),
    input: Type.String({ minLength: 1, maxLength: 4096, description: 'What to say.' }),
    voice: nullable(
      Type.Union([VoiceId, Type.Object({ id: described(VoiceId, 'The id of this object.') })], {
        description:
          'An id from `GET /v1/audio/voices`, or one of `alloy`, `ash`, `ballad`, `coral`, `echo`, `fable`, `onyx`, `nova`, ' +
          '`sage`, `shimmer`, `verse`, which every provider has a voice of its own for. `alloy` unless told.',
      }),
    ),
    response_format: nullable(Type.Enum([...AUDIO_FORMATS], { description: '`mp3` unless told.' })),
    stream_format: nullable(
      Type.Enum(['audio', 'sse'], {
        description:
          '`audio` unless told: the bytes as they come. `sse`: events `speech.audio.delta` with pieces in base64, then `speech.audio.done`.',
      }),
    ),
    speed: nullable(Type.Number({ minimum: 0.25, maximum: 4 }), 'How fast the text is spoken: 1 is normal.'),
    instructions: nullable(
      Type.String({
        maxLength: 4096,
        description:
          'How to say it, where the model can be told. 16 bytes cost as much as a character of `input`.',
      }),
    ),
    language: nullable(
      Type.String({ minLength: 2, maxLength: 16, description: 'ISO 639-1, where the model can be told.' }),
    ),
    ...TaskMembers,
  },
  {
    title: 'SpeechRequest',
    examples: [
      { model: 'elevenlabs-tts', input: 'The quick brown fox jumps over the lazy dog.', voice: 'alloy' },
    ],
  },
)
export type SpeechRequest = Static<typeof SpeechRequest>

export function toSpeechWork(body: SpeechRequest): SpeechWork {
  return {
    kind: 'speech',
    input: body.input,
    voice: typeof body.voice === 'string' ? body.voice : (body.voice?.id ?? VOICE_DEFAULT),
    format: body.response_format ?? 'mp3',
    speed: body.speed ?? 1,
    instructions: body.instructions || null,
    language: body.language ?? null,
  }
}

/** Yields the audio as OpenAI's stream events: deltas in base64, then the usage. */
export async function* writeSpeechEvents(
  batches: AsyncIterable<readonly Uint8Array[]>,
  { input }: SpeechWork,
  record: InferenceRecord,
): AsyncGenerator<readonly Buffer[]> {
  for await (const batch of batches)
    yield [toPayload({ type: 'speech.audio.delta', audio: Buffer.concat(batch).toString('base64') })]
  // Speech is priced by the character. The token counts are there because OpenAI's clients read them.
  const tokens = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }
  const usage = {
    ...tokens,
    characters: Array.from(input).length,
    cost_usd: usdFromNanoUsd(record.costNanoUsd ?? 0n),
  }
  yield [toPayload({ type: 'speech.audio.done', usage })]
}

function toPayload(event: unknown): Buffer {
  return Buffer.from(JSON.stringify(event))
}
