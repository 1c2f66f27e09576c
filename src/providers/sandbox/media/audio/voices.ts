import type { Voice } from '../../../media/audio-operations.ts'
import { createRandomFromText } from '../../../../kernel/seeded-random.ts'

interface KnownVoice {
  readonly gender: Voice['gender']
  readonly pitchHz: number
}

/** By OpenAI's voice names. */
const VOICES = {
  alloy: { gender: 'neutral', pitchHz: 165 },
  ash: { gender: 'male', pitchHz: 118 },
  ballad: { gender: 'male', pitchHz: 132 },
  coral: { gender: 'female', pitchHz: 212 },
  echo: { gender: 'male', pitchHz: 108 },
  fable: { gender: 'neutral', pitchHz: 150 },
  onyx: { gender: 'male', pitchHz: 88 },
  nova: { gender: 'female', pitchHz: 222 },
  sage: { gender: 'female', pitchHz: 194 },
  shimmer: { gender: 'female', pitchHz: 236 },
  verse: { gender: 'male', pitchHz: 126 },
} as const satisfies Record<string, KnownVoice>

const KNOWN: ReadonlyMap<string, KnownVoice> = new Map(Object.entries(VOICES))

export const SANDBOX_VOICES: readonly Voice[] = [...KNOWN].map(([id, { gender }]) => ({
  id,
  name: `${id.slice(0, 1).toUpperCase()}${id.slice(1)}`,
  language: 'multi',
  gender,
}))

/** Returns a pitch for any name, because the sandbox replaces providers whose voices it does not know. */
export function findPitchHz(voice: string): number {
  return KNOWN.get(voice.toLowerCase())?.pitchHz ?? 90 + createRandomFromText(voice).below(150)
}
