import type { Voice } from '../media/audio-operations.ts'
import { chooseVoice, GENDER_OF_OPENAI_VOICE, OPENAI_VOICE_NAMES } from '../media/openai-voices.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'

/** The voices of an upstream's speech models. */
export interface VoiceList {
  readonly voices: readonly Voice[]
  /** Returns the model's own voice for one of OpenAI's names. Other names are returned unchanged. */
  choose(voice: string, upstreamModel: string): string
}

export const OPENAI_VOICES: VoiceList = {
  voices: [
    ...OPENAI_VOICE_NAMES.map((id) => ({ ...namedVoice(id, 'multi'), gender: GENDER_OF_OPENAI_VOICE[id] })),
    { ...namedVoice('marin', 'multi'), gender: 'female' },
    { ...namedVoice('cedar', 'multi'), gender: 'male' },
  ],
  choose: (voice, upstreamModel) =>
    upstreamModel.startsWith('tts-1') ? (YOUNGER_VOICES[voice] ?? voice) : voice,
}

/** Replacements for voices that the first speech models do not have. */
const YOUNGER_VOICES = lookupTable<string>({
  ballad: 'fable',
  verse: 'ash',
  marin: 'nova',
  cedar: 'onyx',
})

export const GROQ_VOICES: VoiceList = {
  voices: [
    { ...namedVoice('autumn', 'en'), gender: 'female' },
    { ...namedVoice('diana', 'en'), gender: 'female' },
    { ...namedVoice('hannah', 'en'), gender: 'female' },
    { ...namedVoice('austin', 'en'), gender: 'male' },
    { ...namedVoice('daniel', 'en'), gender: 'male' },
    { ...namedVoice('troy', 'en'), gender: 'male' },
  ],
  choose: (voice) => chooseVoice(GROQ_VOICE_OF, voice),
}

const GROQ_VOICE_OF = {
  alloy: 'autumn',
  ash: 'austin',
  ballad: 'daniel',
  coral: 'hannah',
  echo: 'austin',
  fable: 'daniel',
  onyx: 'troy',
  nova: 'diana',
  sage: 'autumn',
  shimmer: 'hannah',
  verse: 'troy',
}

function namedVoice(id: string, language: string): Pick<Voice, 'id' | 'name' | 'language'> {
  return { id, name: `${id.charAt(0).toUpperCase()}${id.slice(1)}`, language }
}
