import type { Cancellation } from '../../kernel/cancellation.ts'
import type { SpeechWork } from './media-work.ts'
import type { KeyUse } from '../connection/key-limits.ts'
import type { UpstreamTimeouts } from '../connection/upstream-timeouts.ts'

/** Converts text to audio. Its methods throw only `UpstreamError`. */
export interface SpeechOperation {
  speak(call: SpeechCall): Promise<SpeechAnswer>
  /** Returns the values that `voice` accepts. */
  voices(call: VoicesCall): Promise<readonly Voice[]>
}

export interface SpeechCall {
  readonly work: SpeechWork
  readonly upstreamModel: string
  readonly requestId: string
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
  /** Called as soon as the upstream may have started to read the request. */
  readonly onSent?: (() => void) | undefined
  /** Called with the use of a key that has limits. Whoever calls ends it; without it, it ends at once. */
  readonly onKey?: ((use: KeyUse) => void) | undefined
}

export interface SpeechAnswer {
  readonly contentType: string
  /** Audio in the order of its arrival. Ending the iteration early cancels the upstream request. */
  readonly chunks: AsyncIterable<Uint8Array>
}

interface VoicesCall {
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
}

export interface Voice {
  readonly id: string
  readonly name: string
  /** ISO 639-1, or `multi`. */
  readonly language: string
  readonly gender: 'female' | 'male' | 'neutral'
  readonly previewUrl?: string
}

/** Converts audio to text. Throws only `UpstreamError`. */
export type TranscriptionOperation = (call: TranscriptionCall) => Promise<Transcript>

export interface TranscriptionCall {
  readonly audio: AudioFile
  /** ISO 639-1. Null lets the upstream detect the language. */
  readonly language: string | null
  readonly prompt: string | null
  readonly temperature: number | null
  /** Whether to return timestamps of words in addition to those of segments. */
  readonly withWords: boolean
  /** Whether to translate the speech into English. */
  readonly isTranslation: boolean
  readonly upstreamModel: string
  readonly requestId: string
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
  /** Called as soon as the upstream may have started to read the request. */
  readonly onSent?: (() => void) | undefined
  /** Called with the use of a key that has limits. Whoever calls ends it; without it, it ends at once. */
  readonly onKey?: ((use: KeyUse) => void) | undefined
}

/** An audio file on disk, not in memory: it may have 25 MB, and many clients may upload at the same time. */
export interface AudioFile {
  readonly path: string
  readonly filename: string
  readonly contentType: string
  readonly bytes: number
  /** Measured from the file. */
  readonly durationSeconds: number
}

export interface Transcript {
  readonly text: string
  readonly language: string | null
  readonly segments: readonly TranscriptSegment[]
  readonly words: readonly TranscriptWord[]
  /** Duration of the recording as reported by the upstream. */
  readonly durationSeconds: number | null
}

export interface TranscriptSegment {
  readonly startSeconds: number
  readonly endSeconds: number
  readonly text: string
}

export interface TranscriptWord {
  readonly startSeconds: number
  readonly endSeconds: number
  readonly word: string
}
