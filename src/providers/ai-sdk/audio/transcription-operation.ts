import { createReadStream, openAsBlob } from 'node:fs'

import type { JSONObject, TranscriptionModelV4, TranscriptionModelV4Result } from '@ai-sdk/provider'

import type {
  AudioFile,
  Transcript,
  TranscriptionCall,
  TranscriptionOperation,
  TranscriptWord,
} from '../../media/audio-operations.ts'
import { toLanguageCode } from '../../media/language-code.ts'
import type { AiSdkProviderOptions } from '../lazy-provider.ts'
import { UntranslatableRequest } from '../request/untranslatable-request.ts'
import type { ExchangeLimits } from '../exchange/upstream-exchange.ts'
import { createVendorCalls } from '../exchange/vendor-calls.ts'
import { redirectFetch, type AudioModelSettings, type AudioVendor } from './audio-vendor.ts'
import { groupWords } from './group-words.ts'

/** The differences between the transcription vendors that are called through an AI SDK package. */
export interface TranscriptionVendor extends AudioVendor {
  readonly limits?: Partial<ExchangeLimits>
  createModel(settings: AudioModelSettings): Promise<TranscriptionModelV4>
  /** Returns the vendor's own options for the call. */
  toVendorOptions(call: TranscriptionCall): JSONObject
  /** Reads the words with their punctuation, if the package omits it. */
  readWords?(answer: unknown): TranscriptWord[]
  /** Returns the vendor's error for a recording that it cannot read, if the package hides it. */
  explain?(error: unknown): unknown
}

/**
 * Serves transcription through a vendor's package, which writes the request and reads the answer. The package would hold the
 * whole recording in memory, so it gets an empty one and the file is sent from disk instead.
 */
export function createTranscriptionOperation(
  vendor: TranscriptionVendor,
  options: AiSdkProviderOptions,
): TranscriptionOperation {
  const calls = createVendorCalls(vendor.provider, {
    ...options,
    limits: { ...vendor.limits, ...options.limits },
  })
  return async (call) => {
    const { audio, timeouts, upstreamModel: modelId, onSent, onKey } = call
    const signal = call.cancellation.signal
    return calls.attempt({ timeouts, signal, onSent, onKey }, async ({ apiKey, exchange }) => {
      if (call.isTranslation) throw new UntranslatableRequest('model', 'This model does not translate.')
      const fetch = redirectFetch(vendor, options.baseUrl, async (url, init) =>
        exchange.fetch(url, await putFile(init, audio)),
      )
      const model = await vendor.createModel({ modelId, apiKey, fetch })
      const result = model.doGenerate({
        audio: new Uint8Array(),
        mediaType: audio.contentType,
        providerOptions: { [vendor.provider]: vendor.toVendorOptions(call) },
        abortSignal: signal,
      })
      try {
        return toTranscript(vendor, call, await untilAborted(result, signal))
      } catch (error) {
        throw vendor.explain?.(error) ?? error
      }
    })
  }
}

async function putFile(init: RequestInit, audio: AudioFile): Promise<RequestInit> {
  const { body } = init
  if (body instanceof FormData) {
    body.set('file', await openAsBlob(audio.path, { type: audio.contentType }), audio.filename)
  }
  if (!(body instanceof Uint8Array)) return init
  const headers = new Headers(init.headers)
  headers.set('content-length', String(audio.bytes))
  return { ...init, headers, body: createReadStream(audio.path) }
}

/** Rejects when the signal aborts, because a package that waits between two polls does not notice it. */
function untilAborted<Result>(result: PromiseLike<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([result, promise]).finally(() => signal.removeEventListener('abort', abort))
}

function toTranscript(
  vendor: TranscriptionVendor,
  call: TranscriptionCall,
  result: TranscriptionModelV4Result,
): Transcript {
  const language = result.language === undefined ? call.language : toLanguageCode(result.language)
  const words = vendor.readWords?.(result.response.body) ?? readSegments(result)
  return {
    text: result.text.trim(),
    language,
    segments: groupWords(words, language),
    words: call.withWords ? words : [],
    durationSeconds: result.durationInSeconds ?? null,
  }
}

/** The segments of these packages are single words and the spaces between them. */
function readSegments({ segments }: TranscriptionModelV4Result): TranscriptWord[] {
  return segments
    .map(({ text, startSecond, endSecond }) => ({
      word: text.trim(),
      startSeconds: startSecond,
      endSeconds: endSecond,
    }))
    .filter(({ word }) => word !== '')
}
