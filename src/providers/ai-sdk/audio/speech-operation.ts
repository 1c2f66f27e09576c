import type { SpeechModelV4, SpeechModelV4CallOptions } from '@ai-sdk/provider'

import type { SpeechAnswer, SpeechCall, SpeechOperation, Voice } from '../../media/audio-operations.ts'
import { CONTENT_TYPE_OF_AUDIO, type SpeechWork } from '../../media/media-work.ts'
import { UpstreamError } from '../../failures/upstream-error.ts'
import type { AiSdkProviderOptions } from '../lazy-provider.ts'
import { createVendorCalls, type VendorSession } from '../exchange/vendor-calls.ts'
import { redirectFetch, type AudioModelSettings, type AudioVendor } from './audio-vendor.ts'
import { readAudio } from './read-audio.ts'

/** The differences between the speech vendors that are called through an AI SDK package. */
export interface SpeechVendor extends AudioVendor {
  createModel(settings: AudioModelSettings): Promise<SpeechModelV4>
  /** Throws `UntranslatableRequest` for options that the vendor does not support. */
  toOptions(work: SpeechWork, upstreamModel: string): SpeechModelV4CallOptions
  /** Returns the URL for streamed audio, if the vendor has a separate one. */
  toStreamUrl?(url: string): string
  /** Returns the bytes to put before the vendor's audio to get the requested format. */
  writeHead?(work: SpeechWork): Uint8Array | null
  listVoices(baseUrl: string, session: VendorSession): Promise<readonly Voice[]>
}

/**
 * Serves speech through a vendor's package, which writes the request and reads errors. The package would buffer the whole audio
 * in memory, so the bytes of the answer are intercepted and streamed.
 */
export function createSpeechOperation(vendor: SpeechVendor, options: AiSdkProviderOptions): SpeechOperation {
  const { provider } = vendor
  const calls = createVendorCalls(provider, options)

  const speak = async (call: SpeechCall, { apiKey, exchange }: VendorSession): Promise<SpeechAnswer> => {
    let audio: Response | undefined
    const fetch = redirectFetch(vendor, options.baseUrl, async (url, init) => {
      const answer = await exchange.fetch(vendor.toStreamUrl?.(url) ?? url, init)
      if (!answer.ok) return answer
      audio = answer
      return new Response(new Uint8Array(), { status: answer.status, headers: answer.headers })
    })
    const model = await vendor.createModel({ modelId: call.upstreamModel, apiKey, fetch })
    await model.doGenerate({
      ...vendor.toOptions(call.work, call.upstreamModel),
      abortSignal: call.cancellation.signal,
    })
    if (!isAudio(audio)) {
      throw new UpstreamError(`${provider} did not answer with audio`, {
        failure: 'invalid_answer',
        provider,
      })
    }
    return {
      contentType: CONTENT_TYPE_OF_AUDIO[call.work.format],
      chunks: readAudio({ provider, exchange, call, body: audio.body, head: vendor.writeHead?.(call.work) }),
    }
  }

  return {
    speak: (call) =>
      calls.attempt({ ...call, signal: call.cancellation.signal }, (session) => speak(call, session)),
    voices: ({ timeouts, cancellation }) =>
      calls.attempt({ timeouts, signal: cancellation.signal }, (session) =>
        vendor.listVoices(options.baseUrl ?? vendor.packageUrl, session),
      ),
  }
}

function isAudio(answer: Response | undefined): answer is Response & { body: ReadableStream<Uint8Array> } {
  const contentType = answer?.headers.get('content-type') ?? 'application/octet-stream'
  return (
    answer !== undefined && answer.body !== null && /^(audio\/|application\/octet-stream)/.test(contentType)
  )
}
