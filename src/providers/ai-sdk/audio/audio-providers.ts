import type { SpeechOperation, TranscriptionOperation } from '../../media/audio-operations.ts'
import type { Provider } from '../../provider.ts'
import type { AiSdkProviderOptions } from '../lazy-provider.ts'
import { loadOnce } from '../load-once.ts'
import type { SpeechVendor } from './speech-operation.ts'
import type { TranscriptionVendor } from './transcription-operation.ts'

/** Creates the provider of ElevenLabs' speech, transcription and music. */
export function createElevenLabsProvider(options: AiSdkProviderOptions): Provider {
  const music = loadOnce(async () => (await import('./elevenlabs-music.ts')).createElevenLabsMusic(options))
  return {
    id: 'elevenlabs',
    isConfigured: options.apiKeys.length > 0,
    speech: createLazySpeech(options, async () => (await import('./elevenlabs-speech.ts')).elevenLabsSpeech),
    transcription: createLazyTranscription(
      options,
      async () => (await import('./elevenlabs-transcription.ts')).elevenLabsTranscription,
    ),
    music: { start: async (call) => (await music()).start(call) },
  }
}

/** Creates the provider of Deepgram's speech and transcription. */
export function createDeepgramProvider(options: AiSdkProviderOptions): Provider {
  return {
    id: 'deepgram',
    isConfigured: options.apiKeys.length > 0,
    speech: createLazySpeech(options, async () => (await import('./deepgram-speech.ts')).deepgramSpeech),
    transcription: createLazyTranscription(
      options,
      async () => (await import('./deepgram-transcription.ts')).deepgramTranscription,
    ),
  }
}

/** Creates the provider of AssemblyAI's transcription. */
export function createAssemblyAiProvider(options: AiSdkProviderOptions): Provider {
  return {
    id: 'assemblyai',
    isConfigured: options.apiKeys.length > 0,
    transcription: createLazyTranscription(
      options,
      async () => (await import('./assemblyai-transcription.ts')).assemblyAiTranscription,
    ),
  }
}

function createLazySpeech(options: AiSdkProviderOptions, load: () => Promise<SpeechVendor>): SpeechOperation {
  const operation = loadOnce(async () => {
    const [{ createSpeechOperation }, vendor] = await Promise.all([import('./speech-operation.ts'), load()])
    return createSpeechOperation(vendor, options)
  })
  return {
    speak: async (call) => (await operation()).speak(call),
    voices: async (call) => (await operation()).voices(call),
  }
}

function createLazyTranscription(
  options: AiSdkProviderOptions,
  load: () => Promise<TranscriptionVendor>,
): TranscriptionOperation {
  const operation = loadOnce(async () => {
    const [{ createTranscriptionOperation }, vendor] = await Promise.all([
      import('./transcription-operation.ts'),
      load(),
    ])
    return createTranscriptionOperation(vendor, options)
  })
  return async (call) => (await operation())(call)
}
