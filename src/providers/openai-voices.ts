/** OpenAI's names, which clients know: every provider has a voice of its own for each. */
export const OPENAI_VOICE_NAMES = [
  'alloy',
  'ash',
  'ballad',
  'coral',
  'echo',
  'fable',
  'onyx',
  'nova',
  'sage',
  'shimmer',
  'verse',
] as const
export type OpenAiVoiceName = (typeof OPENAI_VOICE_NAMES)[number]

export const GENDER_OF_OPENAI_VOICE: Readonly<Record<OpenAiVoiceName, 'female' | 'male' | 'neutral'>> = {
  alloy: 'neutral',
  ash: 'male',
  ballad: 'male',
  coral: 'female',
  echo: 'male',
  fable: 'neutral',
  onyx: 'male',
  nova: 'female',
  sage: 'female',
  shimmer: 'female',
  verse: 'male',
}

/** The provider's own voice for one of OpenAI's names; any other id stays as it is. */
export function chooseVoice(table: Readonly<Record<OpenAiVoiceName, string>>, voice: string): string {
  const name = OPENAI_VOICE_NAMES.find((known) => known === voice)
  return name === undefined ? voice : table[name]
}
