import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { SpeechOperation, Voice } from '../../providers/media/audio-operations.ts'
import { OPENAI_VOICE_NAMES } from '../../providers/media/openai-voices.ts'
import type { UpstreamTimeouts } from '../../providers/provider.ts'

/** Caches the voices of each provider. */
export interface VoiceCache {
  /** Throws `UpstreamError` if they cannot be read and are not cached. */
  read(provider: string, operation: SpeechOperation, cancellation: Cancellation): Promise<readonly Voice[]>
  /** Also returns true if unknown. Then the provider itself refuses an unknown voice. */
  mayHave(
    provider: string,
    operation: SpeechOperation,
    voice: string,
    cancellation: Cancellation,
  ): Promise<boolean>
}

interface VoiceCacheOptions {
  readonly clock: Clock
  readonly timeouts: UpstreamTimeouts
}

const FRESH_MS = 5 * 60_000
/** A missing voice may be new, so a shorter cache time applies, but not one read per request. */
const MISSED_FRESH_MS = 10_000
const TIMEOUT_MS_MAX = 10_000

interface Entry {
  readonly voices: readonly Voice[]
  readonly readAtMs: number
}

export function createVoiceCache({ clock, timeouts }: VoiceCacheOptions): VoiceCache {
  const entries = new Map<string, Entry>()
  const limits = {
    connectMs: timeouts.connectMs,
    firstByteMs: Math.min(timeouts.firstByteMs, TIMEOUT_MS_MAX),
    idleMs: Math.min(timeouts.idleMs, TIMEOUT_MS_MAX),
  }

  const readWithin = async (
    provider: string,
    operation: SpeechOperation,
    { freshMs, cancellation }: { freshMs: number; cancellation: Cancellation },
  ): Promise<readonly Voice[]> => {
    const known = entries.get(provider)
    if (known && clock.monotonicMs() - known.readAtMs < freshMs) return known.voices
    try {
      const voices = await operation.voices({ timeouts: limits, cancellation })
      entries.set(provider, { voices, readAtMs: clock.monotonicMs() })
      return voices
    } catch (error) {
      if (known && !cancellation.isCancelled) return known.voices
      throw error
    }
  }

  return {
    read: (provider, operation, cancellation) =>
      readWithin(provider, operation, { freshMs: FRESH_MS, cancellation }),

    async mayHave(provider, operation, voice, cancellation) {
      for (const freshMs of [FRESH_MS, MISSED_FRESH_MS]) {
        const voices = await readWithin(provider, operation, { freshMs, cancellation }).catch(() => null)
        cancellation.throwIfCancelled()
        if (voices === null || voices.length === 0 || voices.some(({ id }) => id === voice)) return true
      }
      return false
    },
  }
}

/** Whether every provider maps this name to a voice of its own. */
export function isKnownEverywhere(voice: string): boolean {
  return NAMES.has(voice)
}

const NAMES: ReadonlySet<string> = new Set(OPENAI_VOICE_NAMES)
