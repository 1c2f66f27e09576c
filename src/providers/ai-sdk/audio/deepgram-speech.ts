import type { Voice } from '../../media/audio-operations.ts'
import { chooseVoice } from '../../media/openai-voices.ts'
import type { SpeechVendor } from './speech-operation.ts'

export const DEEPGRAM = { provider: 'deepgram', packageUrl: 'https://api.deepgram.com/v1' }

export const deepgramSpeech: SpeechVendor = {
  ...DEEPGRAM,
  async createModel({ modelId, apiKey, fetch }) {
    const { createDeepgram } = await import('@ai-sdk/deepgram')
    return createDeepgram({ apiKey, fetch }).speech(modelId)
  },
  toOptions: (work) => ({
    text: work.input,
    voice: chooseVoice(VOICE_OF, work.voice),
    outputFormat: work.format,
    ...(work.speed === 1 ? {} : { speed: work.speed }),
    ...(work.language === null ? {} : { language: work.language }),
  }),
  listVoices: () => Promise.resolve(VOICES),
}

const FEMALE_VOICES =
  'amalthea andromeda asteria athena aurora callista cora cordelia delia electra harmonia helena hera iris janus ' +
  'juno luna minerva ophelia pandora phoebe selene thalia theia vesta'
const MALE_VOICES =
  'apollo arcas aries atlas draco hermes hyperion jupiter mars neptune odysseus orion orpheus pluto saturn zeus'

/** Only the English voices of Aura 2. A voice of another language is requested with that language. */
const VOICES: readonly Voice[] = [
  ...FEMALE_VOICES.split(' ').map((id) => toVoice(id, 'female')),
  ...MALE_VOICES.split(' ').map((id) => toVoice(id, 'male')),
]

const VOICE_OF = {
  alloy: 'thalia',
  ash: 'arcas',
  ballad: 'draco',
  coral: 'andromeda',
  echo: 'apollo',
  fable: 'pandora',
  onyx: 'zeus',
  nova: 'helena',
  sage: 'athena',
  shimmer: 'luna',
  verse: 'orpheus',
}

function toVoice(id: string, gender: Voice['gender']): Voice {
  return { id, name: `${id.charAt(0).toUpperCase()}${id.slice(1)}`, language: 'en', gender }
}
