import { Type, type Static } from 'typebox'
import { createInferenceRecord, type InferenceRecord } from '../../../modules/inference/inference.ts'
import type { Speech } from '../../../modules/speech/speech.ts'
import { AUDIO_FORMATS, CONTENT_TYPE_OF_AUDIO, type SpeechWork } from '../../../providers/media-work.ts'
import { nullable } from '../../../wires/nullable.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import { TaskMembers, TaskReceipt, type RunGeneration } from '../../paid/run-generation.ts'
import { setGatewayHeaders, type RunPaid } from '../../paid/run-paid.ts'
import { sendAudio } from '../../answers/send-audio.ts'
import { sendEventReply } from '../../answers/send-event-reply.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'

const VoiceId = Type.String({ minLength: 1, maxLength: 256 })

/** The first voice in OpenAI's list. */
const VOICE_DEFAULT = 'alloy'

const SpeechRequest = Type.Object(
  {
    model: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'A model id from `GET /v1/models?category=tts`.',
    }),
    input: Type.String({ minLength: 1, maxLength: 4096, description: 'What to say.' }),
    voice: nullable(
      Type.Union([VoiceId, Type.Object({ id: VoiceId })], {
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
    speed: nullable(Type.Number({ minimum: 0.25, maximum: 4 })),
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
    examples: [{ model: 'tts-1', input: 'The quick brown fox jumps over the lazy dog.', voice: 'alloy' }],
  },
)

const AUDIO_TYPES = {
  ...Object.fromEntries(
    AUDIO_FORMATS.map((format) => [
      CONTENT_TYPE_OF_AUDIO[format],
      Type.String({ format: 'binary', description: `With \`response_format: "${format}"\`.` }),
    ]),
  ),
  'text/event-stream': Type.String({ description: 'With `stream_format: "sse"`.' }),
}

type Body = Static<typeof SpeechRequest>

interface SpeechRouteOptions {
  readonly speech: Pick<Speech, 'speak'>
  readonly runPaid: RunPaid
  readonly runGeneration: RunGeneration
  readonly onStreamError: (error: unknown, requestId: string) => void
}

export const speechRoutes = (options: SpeechRouteOptions): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/v1/audio/speech',
    summary: 'Speak a text',
    tag: 'Audio',
    scope: 'inference',
    body: SpeechRequest,
    responses: {
      200: { description: 'The audio, as it is made.', otherTypes: AUDIO_TYPES },
      202: {
        description: 'The task that makes it, where `accept` names `application/json` and no audio.',
        schema: TaskReceipt,
      },
    },
    handle: (request) => {
      const { body } = request
      const work = toWork(body)
      if (!wantsTask(request.headers.accept)) return speak(request, work, options)
      return options.runGeneration(request, { type: 'tts', model: body.model, work, responseFormat: 'url' })
    },
  }),
]

async function speak(
  request: RouteRequest<Body, unknown, unknown>,
  work: SpeechWork,
  { speech, runPaid, onStreamError }: SpeechRouteOptions,
): Promise<void> {
  const { body, caller, exchange, reply } = request
  const record = createInferenceRecord('tts')
  const { id: requestId, cancellation } = exchange
  await runPaid(request, record, async () => {
    const audio = await speech.speak({ caller, requestId, record, cancellation, model: body.model, work })
    setGatewayHeaders(reply, exchange, record)
    if (body.stream_format === 'sse')
      return sendEventReply(reply, speechEvents(audio.batches, work, record), exchange)
    reply.type(audio.contentType)
    return sendAudio(reply, audio.batches, (error) => onStreamError(error, requestId))
  })
}

function toWork(body: Body): SpeechWork {
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

/** Returns whether the client accepts JSON but no audio, and so expects a task to poll. */
function wantsTask(accept: string | string[] | undefined): boolean {
  const types = String(accept ?? '*/*')
    .toLowerCase()
    .split(',')
    .map((range) => range.split(';', 1)[0]?.trim() ?? '')
  const takesAudio = types.some(
    (type) => type.startsWith('audio/') || type === 'application/octet-stream' || type === '*/*',
  )
  return types.includes('application/json') && !takesAudio
}

/** Yields the audio as OpenAI's stream events: deltas in base64, then the usage. */
async function* speechEvents(
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
