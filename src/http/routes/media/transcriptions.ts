import { Type, type Static } from 'typebox'
import { ByteValues } from '../../multipart/read-byte-values.ts'
import { invalidValue } from '../../../kernel/app-error.ts'
import { createInferenceRecord } from '../../../modules/inference/inference.ts'
import {
  AUDIO_BYTES_MAX,
  formatTranscript,
  TRANSCRIPT_FORMATS,
  transcriptEvents,
  type Transcription,
} from '../../../modules/transcription/transcription.ts'
import { described } from '../../../wires/described.ts'
import { nullable } from '../../../wires/nullable.ts'
import { CostUsd, partType } from '../../../wires/usual-members.ts'
import { refuseMembers, type RefusedMembers } from '../../bodies/refuse-members.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import type { RunPaid } from '../../paid/run-paid.ts'
import { sendEventReply } from '../../answers/send-event-reply.ts'

// Ten milliseconds of silence, for the examples.
const SHORT_WAV =
  'UklGRnQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YVAAAACAgICAgICAgICAgICAgICAgICAgICAgICAgICA' +
  'gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgA=='

const SharedMembers = {
  model: Type.String({
    minLength: 1,
    maxLength: 256,
    description: 'A model id from `GET /v1/models?category=stt`.',
  }),
  file: Type.Optional(
    Type.Union([Type.String(), ByteValues], {
      description:
        'In a JSON body the file in base64, as a data URI, by its address where this gateway keeps it, or as what `JSON.stringify` makes of a `Uint8Array` or a `Buffer`. In a form it is a file.',
    }),
  ),
  prompt: nullable(
    Type.String({ maxLength: 10_000, description: 'Words and names to expect, or what came before.' }),
  ),
  response_format: nullable(Type.Enum([...TRANSCRIPT_FORMATS], { description: '`json` unless told.' })),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 1 }), 'How random the output is: 0 is the least.'),
}

const EXAMPLE = { model: 'whisper-large-v3', file: SHORT_WAV }

const TranscriptionRequest = Type.Object(
  {
    ...SharedMembers,
    language: nullable(
      Type.String({
        minLength: 2,
        maxLength: 16,
        description: 'Of what is spoken, as ISO 639-1; found out without it.',
      }),
    ),
    timestamp_granularities: nullable(
      Type.Array(Type.Enum(['word', 'segment']), {
        maxItems: 2,
        description: 'Which times `verbose_json` has: `segment` unless told.',
      }),
    ),
    stream: nullable(
      Type.Boolean({
        description: 'Answers `transcript.text.delta` events and `transcript.text.done` with `json`.',
      }),
    ),
  },
  { title: 'TranscriptionRequest', examples: [EXAMPLE] },
)

const TranslationRequest = Type.Object(SharedMembers, { title: 'TranslationRequest', examples: [EXAMPLE] })

type Body = Static<typeof TranscriptionRequest>

const Usage = Type.Object({
  type: partType('duration'),
  seconds: Type.Integer({ description: 'As measured from the file, rounded up.' }),
  cost_usd: CostUsd,
})

const TranscriptAnswer = Type.Object(
  {
    text: Type.String({ description: 'The text.' }),
    language: Type.Optional(Type.String({ description: 'The language, as ISO 639-1.' })),
    duration: Type.Optional(Type.Number({ description: 'In seconds.' })),
    task: Type.Optional(Type.Enum(['transcribe', 'translate'], { description: 'With `verbose_json`.' })),
    segments: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.Integer({ description: 'The id of this object.' }),
          start: Type.Number({ description: 'Where it begins, in seconds.' }),
          end: Type.Number({ description: 'Where it ends, in seconds.' }),
          text: Type.String({ description: 'The text.' }),
        }),
        { description: 'The text in pieces, with times.' },
      ),
    ),
    words: Type.Optional(
      Type.Array(
        Type.Object({
          word: Type.String({ description: 'The word.' }),
          start: Type.Number({ description: 'Where it begins, in seconds.' }),
          end: Type.Number({ description: 'Where it ends, in seconds.' }),
        }),
        { description: 'The words, with times.' },
      ),
    ),
    usage: described(Usage, 'What was used, and what it cost.'),
  },
  { title: 'Transcript' },
)

/** The answers other than JSON that `response_format` can choose. */
const TEXT_FORMS = {
  'text/plain': Type.String({ description: 'With `text`: what was said.' }),
  'application/x-subrip': Type.String({ description: 'With `srt`: SubRip captions.' }),
  'text/vtt': Type.String({ description: 'With `vtt`: WebVTT captions.' }),
}

const EVENTS = Type.String({
  description: 'With `stream: true`: `transcript.text.delta` events, then one `transcript.text.done`.',
})

const FORM = {
  files: {
    file: {
      countMax: 1,
      bytesMax: AUDIO_BYTES_MAX,
      isRequired: true,
      isBase64InJson: true,
      description: 'Audio as flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm.',
    },
  },
} as const

/** Limit for a JSON body with the file in base64 and the other members. */
const JSON_BYTES_MAX = Math.ceil((AUDIO_BYTES_MAX * 4) / 3) + 1024 * 1024

const NO_SPEAKERS = { hint: 'Speakers are not told apart.', ordinary: [false, 'false'] }
const REFUSED: RefusedMembers = {
  include: { hint: 'Transcripts have no log probabilities.' },
  known_speaker_names: NO_SPEAKERS,
  known_speaker_references: NO_SPEAKERS,
  diarize: NO_SPEAKERS,
  diarization: NO_SPEAKERS,
  speaker_labels: NO_SPEAKERS,
}

interface TranscriptionRouteOptions {
  readonly transcription: Transcription
  readonly runPaid: RunPaid
}

export const transcriptionRoutes = ({ transcription, runPaid }: TranscriptionRouteOptions): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/v1/audio/transcriptions',
    takesTags: 'header',
    summary: 'Transcribe audio',
    tag: 'Audio',
    access: inProject('models.use'),
    body: TranscriptionRequest,
    form: FORM,
    bodyLimitBytes: JSON_BYTES_MAX,
    responses: {
      200: {
        description: 'What was said; plain text as `text`, `srt` or `vtt`.',
        schema: TranscriptAnswer,
        otherTypes: { ...TEXT_FORMS, 'text/event-stream': EVENTS },
      },
    },
    handle: (request) => answer(request, { isTranslation: false, transcription, runPaid }),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/audio/translations',
    takesTags: 'header',
    summary: 'Transcribe audio into English',
    tag: 'Audio',
    access: inProject('models.use'),
    body: TranslationRequest,
    form: FORM,
    bodyLimitBytes: JSON_BYTES_MAX,
    responses: {
      200: { description: 'What was said, in English.', schema: TranscriptAnswer, otherTypes: TEXT_FORMS },
    },
    handle: (request) => answer(request, { isTranslation: true, transcription, runPaid }),
  }),
]

async function answer(
  request: RouteRequest<Body, unknown, unknown>,
  { isTranslation, transcription, runPaid }: TranscriptionRouteOptions & { isTranslation: boolean },
): Promise<unknown> {
  const { body, caller, exchange, reply } = request
  refuseMembers(body, REFUSED)
  const granularities = body.timestamp_granularities ?? []
  const format = body.response_format ?? 'json'
  checkTimes(granularities, format)
  const audio = request.files.find(({ field }) => field === 'file')
  if (audio === undefined) throw invalidValue('file', "'file' must be a file.")
  const withWords = granularities.includes('word')
  const record = createInferenceRecord(isTranslation ? 'translation' : 'stt')
  const transcript = await runPaid(request, record, () =>
    transcription.transcribe({
      caller,
      requestId: exchange.id,
      record,
      cancellation: exchange.cancellation,
      model: body.model,
      audio,
      language: body.language ?? null,
      prompt: body.prompt ?? null,
      temperature: body.temperature ?? null,
      withWords,
      isTranslation,
    }),
  )
  if (body.stream === true && format === 'json' && !isTranslation)
    return sendEventReply(reply, transcriptEvents(transcript), exchange)
  const { contentType, body: text } = formatTranscript(transcript, {
    format,
    withSegments: granularities.length === 0 || granularities.includes('segment'),
    withWords,
    temperature: body.temperature ?? 0,
  })
  return reply.type(contentType).send(text)
}

function checkTimes(granularities: readonly string[], format: string): void {
  if (granularities.length === 0 || format === 'verbose_json') return
  throw invalidValue(
    'timestamp_granularities',
    "'timestamp_granularities' needs the response_format verbose_json.",
  )
}
