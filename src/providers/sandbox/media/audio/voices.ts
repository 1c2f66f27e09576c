import type { Voice } from '../../../audio-operations.ts'
import { createRandomFromText } from '../../../../kernel/seeded-random.ts'

/** How a voice sounds. */
export interface VoiceSound {
  readonly pitchHz: number
  /** Smaller heads have higher resonances. */
  readonly formantScale: number
  /** Amount of breath noise, 0 to 1. */
  readonly breath: number
}

interface KnownVoice extends VoiceSound {
  readonly gender: Voice['gender']
}

/** By OpenAI's voice names. */
const VOICES = {
  alloy: { gender: 'neutral', pitchHz: 165, formantScale: 1.06, breath: 0.05 },
  ash: { gender: 'male', pitchHz: 118, formantScale: 1, breath: 0.08 },
  ballad: { gender: 'male', pitchHz: 132, formantScale: 1.02, breath: 0.12 },
  coral: { gender: 'female', pitchHz: 212, formantScale: 1.14, breath: 0.06 },
  echo: { gender: 'male', pitchHz: 108, formantScale: 0.98, breath: 0.04 },
  fable: { gender: 'neutral', pitchHz: 150, formantScale: 1.05, breath: 0.1 },
  onyx: { gender: 'male', pitchHz: 88, formantScale: 0.93, breath: 0.05 },
  nova: { gender: 'female', pitchHz: 222, formantScale: 1.16, breath: 0.05 },
  sage: { gender: 'female', pitchHz: 194, formantScale: 1.12, breath: 0.09 },
  shimmer: { gender: 'female', pitchHz: 236, formantScale: 1.18, breath: 0.12 },
  verse: { gender: 'male', pitchHz: 126, formantScale: 1.01, breath: 0.06 },
} as const satisfies Record<string, KnownVoice>

const KNOWN: ReadonlyMap<string, KnownVoice> = new Map(Object.entries(VOICES))

export const SANDBOX_VOICES: readonly Voice[] = [...KNOWN].map(([id, { gender }]) => ({
  id,
  name: `${id.slice(0, 1).toUpperCase()}${id.slice(1)}`,
  language: 'multi',
  gender,
}))

/** Returns a distinct sound for any name, because the sandbox replaces providers whose voices it does not know. */
export function findVoiceSound(voice: string): VoiceSound {
  const known = KNOWN.get(voice.toLowerCase())
  if (known) return known
  const random = createRandomFromText(voice)
  const pitchHz = 90 + random.below(150)
  return { pitchHz, formantScale: 0.9 + pitchHz / 900, breath: random.below(15) / 100 }
}
