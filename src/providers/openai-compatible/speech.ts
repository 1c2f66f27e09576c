import type { SpeechCall, SpeechOperation } from '../media/audio-operations.ts'
import { CONTENT_TYPE_OF_AUDIO } from '../media/media-work.ts'
import { takesInstructions } from '../media/speech-instructions.ts'
import type { OpenAiCompatibleUpstream } from './upstream.ts'
import type { WireClient } from './wire-client.ts'
import { invalidAnswer } from '../failures/upstream-error.ts'

/** Serves OpenAI's `/audio/speech` and streams the audio while it is generated. */
export function createSpeech(upstream: OpenAiCompatibleUpstream, client: WireClient): SpeechOperation {
  const provider = upstream.id
  return {
    async speak(call) {
      const response = await client.open('/audio/speech', writeRequest(upstream, call), call)
      if (response.kind === 'refusal') throw response.error
      const contentType = readContentType(response.headers['content-type'])
      if (contentType !== null && !isAudio(contentType)) {
        await response.chunks[Symbol.asyncIterator]().return?.()
        throw invalidAnswer(provider, `it answered ${contentType} where audio was asked for`)
      }
      return {
        contentType:
          contentType?.startsWith('audio/') === true ? contentType : CONTENT_TYPE_OF_AUDIO[call.work.format],
        chunks: response.chunks,
      }
    },
    voices: () => Promise.resolve(upstream.voices?.voices ?? []),
  }
}

function writeRequest(upstream: OpenAiCompatibleUpstream, { work, upstreamModel }: SpeechCall): string {
  return JSON.stringify({
    model: upstreamModel,
    input: work.input,
    voice: upstream.voices?.choose(work.voice, upstreamModel) ?? work.voice,
    response_format: work.format,
    // Omit the default speed, because not every model accepts the member.
    ...(work.speed === 1 ? {} : { speed: work.speed }),
    ...(work.instructions === null || !takesInstructions(upstreamModel)
      ? {}
      : { instructions: work.instructions }),
  })
}

function readContentType(header: string | string[] | undefined): string | null {
  return typeof header === 'string' ? (header.split(';')[0]?.trim().toLowerCase() ?? null) : null
}

function isAudio(contentType: string): boolean {
  return contentType.startsWith('audio/') || contentType === 'application/octet-stream'
}
