import type { MediaCall, MediaOperation, MediaStart } from '../../media/media-operation.ts'
import type { MusicWork } from '../../media/media-work.ts'
import { UpstreamError } from '../../failures/upstream-error.ts'
import type { AiSdkProviderOptions } from '../lazy-provider.ts'
import { createVendorCalls, type VendorSession } from '../exchange/vendor-calls.ts'
import { ELEVENLABS } from './elevenlabs-speech.ts'
import { requestVendor } from './request-vendor.ts'
import { writeWavHeader } from './wav-header.ts'

const SAMPLE_RATE = 44_100
const SAMPLE_BYTES = 2
const OUTPUT_FORMATS = { mp3: 'mp3_44100_128', wav: `pcm_${SAMPLE_RATE}` }

/** Calls the API directly, because the package does not support music. The vendor answers when the song is complete. */
export function createElevenLabsMusic(options: AiSdkProviderOptions): MediaOperation<MusicWork> {
  const calls = createVendorCalls(ELEVENLABS.provider, options)
  const baseUrl = options.baseUrl ?? ELEVENLABS.packageUrl
  return {
    start: (call) =>
      calls.attempt(
        { timeouts: call.timeouts, signal: call.cancellation.signal, onKey: call.onKey },
        (session) => compose(baseUrl, call, session),
      ),
  }
}

async function compose(
  baseUrl: string,
  { work, upstreamModel }: MediaCall<MusicWork>,
  { apiKey, exchange }: VendorSession,
): Promise<MediaStart> {
  const response = await requestVendor(exchange, {
    provider: ELEVENLABS.provider,
    url: `${baseUrl}/music?output_format=${OUTPUT_FORMATS[work.outputFormat]}`,
    headers: { 'xi-api-key': apiKey },
    body: {
      prompt: work.lyrics === null ? work.prompt : `${work.prompt}\n\nLyrics:\n${work.lyrics}`,
      music_length_ms: Math.round(work.durationSeconds * 1000),
      model_id: upstreamModel,
      force_instrumental: work.isInstrumental,
    },
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  const contentType = response.headers.get('content-type') ?? 'application/octet-stream'
  if (bytes.length === 0 || !/^(audio\/|application\/octet-stream)/.test(contentType)) {
    throw new UpstreamError('elevenlabs did not answer with audio', {
      failure: 'invalid_answer',
      provider: ELEVENLABS.provider,
    })
  }
  const file =
    work.outputFormat === 'wav'
      ? { bytes: toWavFile(bytes, work.durationSeconds), contentType: 'audio/wav' }
      : { bytes, contentType: 'audio/mpeg' }
  return { kind: 'done', output: { files: [{ kind: 'bytes', ...file }] } }
}

/** Raw samples do not contain the number of channels, so it is derived from their length. */
function toWavFile(samples: Uint8Array, durationSeconds: number): Uint8Array {
  const channels = samples.length > durationSeconds * SAMPLE_RATE * SAMPLE_BYTES * 1.5 ? 2 : 1
  return Buffer.concat([
    writeWavHeader({ sampleRate: SAMPLE_RATE, channels, bytes: samples.length }),
    samples,
  ])
}
