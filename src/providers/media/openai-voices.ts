/** OpenAI's voice names, which clients know. Each provider maps them to its own voices. */
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

/** Returns the provider's own voice for one of OpenAI's names. Other ids are returned unchanged. */
export function chooseVoice(table: Readonly<Record<OpenAiVoiceName, string>>, voice: string): string {
  const name = OPENAI_VOICE_NAMES.find((known) => known === voice)
  return name === undefined ? voice : table[name]
}
