import { ELEVENLABS } from './elevenlabs-speech.ts'
import type { TranscriptionVendor } from './transcription-operation.ts'

export const elevenLabsTranscription: TranscriptionVendor = {
  ...ELEVENLABS,
  async createModel({ modelId, apiKey, fetch }) {
    const { createElevenLabs } = await import('@ai-sdk/elevenlabs')
    return createElevenLabs({ apiKey, fetch: withoutSpeakers(fetch) }).transcription(modelId)
  },
  toVendorOptions: ({ language }) => ({
    ...(language === null ? {} : { languageCode: language }),
    tagAudioEvents: false,
  }),
}

/** The package sends `diarize` twice with different values, so that the vendor decides which one counts. This sends it once. */
function withoutSpeakers(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (url, init) => {
    if (init?.body instanceof FormData) init.body.set('diarize', 'false')
    return fetch(url, init)
  }
}
