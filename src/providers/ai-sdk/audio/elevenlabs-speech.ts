import type { Voice } from '../../media/audio-operations.ts'
import { toLanguageCode } from '../../media/language-code.ts'
import type { AudioFormat } from '../../media/media-work.ts'
import { chooseVoice } from '../../media/openai-voices.ts'
import { UpstreamError } from '../../failures/upstream-error.ts'
import { parseJson, readPath, readString } from '../exchange/read-json.ts'
import { UntranslatableRequest } from '../request/untranslatable-request.ts'
import { requestVendor } from './request-vendor.ts'
import type { SpeechVendor } from './speech-operation.ts'
import { writeWavHeader } from './wav-header.ts'

export const ELEVENLABS = { provider: 'elevenlabs', packageUrl: 'https://api.elevenlabs.io/v1' }

const SAMPLE_RATE = 24_000
const SPEED_MIN = 0.7
const SPEED_MAX = 1.2

export const elevenLabsSpeech: SpeechVendor = {
  ...ELEVENLABS,
  async createModel({ modelId, apiKey, fetch }) {
    const { createElevenLabs } = await import('@ai-sdk/elevenlabs')
    return createElevenLabs({ apiKey, fetch }).speech(modelId)
  },
  toOptions(work, upstreamModel) {
    const outputFormat = OUTPUT_FORMATS[work.format]
    if (outputFormat === undefined) {
      throw new UntranslatableRequest('response_format', 'This model speaks mp3, opus, wav or pcm.')
    }
    return {
      text: work.input,
      voice: chooseVoice(VOICE_OF, work.voice),
      outputFormat,
      ...(work.speed === 1 ? {} : { speed: Math.min(Math.max(work.speed, SPEED_MIN), SPEED_MAX) }),
      // The other models detect the language themselves and refuse this option.
      ...(work.language !== null && /v2_5|v3/.test(upstreamModel) ? { language: work.language } : {}),
    }
  },
  toStreamUrl: (url) => url.replace(/(\/text-to-speech\/[^/?]+)(?=\?|$)/, '$1/stream'),
  writeHead: ({ format }) =>
    format === 'wav' ? writeWavHeader({ sampleRate: SAMPLE_RATE, channels: 1, bytes: null }) : null,
  async listVoices(baseUrl, { apiKey, exchange }) {
    const response = await requestVendor(exchange, {
      provider: ELEVENLABS.provider,
      url: `${baseUrl}/voices`,
      headers: { 'xi-api-key': apiKey },
    })
    const voices = readPath(parseJson(await response.text()), 'voices')
    if (!Array.isArray(voices)) {
      throw new UpstreamError('elevenlabs answered without voices', {
        failure: 'invalid_answer',
        provider: ELEVENLABS.provider,
      })
    }
    return voices.flatMap(readVoice)
  },
}

const OUTPUT_FORMATS: Readonly<Partial<Record<AudioFormat, string>>> = {
  mp3: 'mp3_44100_128',
  opus: 'opus_48000_64',
  // The same format as OpenAI's: 24,000 samples of 16 bits each second.
  pcm: `pcm_${SAMPLE_RATE}`,
  wav: `pcm_${SAMPLE_RATE}`,
}

/** Voices that are available to every account. */
const VOICE_OF = {
  alloy: 'SAz9YHcvj6GT2YYXdXww',
  ash: 'bIHbv24MWmeRgasZH58o',
  ballad: 'JBFqnCBsd6RMkjVDRZzb',
  coral: 'cgSgspJ2msm6clMCkdW9',
  echo: 'TX3LPaxmHKxFdv7VOQHJ',
  fable: 'onwK4e9ZLuTAKqWW03F9',
  onyx: 'nPczCjzI2devNBz1zQrb',
  nova: 'EXAVITQu4vr4xnSDxMaL',
  sage: 'XrExE9yKIg1WjnnlVkGX',
  shimmer: 'pFZP5JQG7iQjIQuC4Bku',
  verse: 'iP95p4xoKVk53GoZ742B',
}

function readVoice(entry: unknown): Voice[] {
  const id = readString(entry, 'voice_id')
  if (id === undefined) return []
  const gender = readString(entry, 'labels', 'gender')
  const previewUrl = readString(entry, 'preview_url')
  return [
    {
      id,
      name: readString(entry, 'name') ?? id,
      language: toLanguageCode(readString(entry, 'labels', 'language') ?? '') ?? 'multi',
      gender: gender === 'female' || gender === 'male' ? gender : 'neutral',
      ...(previewUrl === undefined ? {} : { previewUrl }),
    },
  ]
}
