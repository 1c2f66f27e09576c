import { Type } from 'typebox'
import { createInferenceRecord } from '../../../modules/inference/inference.ts'
import type { Speech } from '../../../modules/speech/speech.ts'
import { AUDIO_FORMATS, CONTENT_TYPE_OF_AUDIO, type SpeechWork } from '../../../providers/media/media-work.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import { TaskReceipt, type RunGeneration } from '../../paid/run-generation.ts'
import { setGatewayHeaders } from '../../paid/gateway-headers.ts'
import type { RunPaid } from '../../paid/run-paid.ts'
import { sendAudio } from '../../answers/send-audio.ts'
import { sendEventReply } from '../../answers/send-event-reply.ts'
import { SpeechRequest, toSpeechWork, writeSpeechEvents } from './speech-wire.ts'

const AUDIO_TYPES = {
  ...Object.fromEntries(
    AUDIO_FORMATS.map((format) => [
      CONTENT_TYPE_OF_AUDIO[format],
      Type.String({ format: 'binary', description: `With \`response_format: "${format}"\`.` }),
    ]),
  ),
  'text/event-stream': Type.String({ description: 'With `stream_format: "sse"`.' }),
}

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
    takesTags: 'header',
    summary: 'Speak a text',
    tag: 'Audio',
    access: inProject('models.use'),
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
      const work = toSpeechWork(body)
      if (!wantsTask(request.headers.accept)) return speak(request, work, options)
      return options.runGeneration(request, { type: 'tts', model: body.model, work, responseFormat: 'url' })
    },
  }),
]

async function speak(
  request: RouteRequest<SpeechRequest, unknown, unknown>,
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
      return sendEventReply(reply, writeSpeechEvents(audio.batches, work, record), exchange)
    reply.type(audio.contentType)
    return sendAudio(reply, audio.batches, (error) => onStreamError(error, requestId))
  })
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
